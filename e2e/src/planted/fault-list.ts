import type { CertificationId, Claims } from '@holdfast/provider-core/certification';
import type { CliFault } from './wrap-cli.js';

/** A fault that one proof must catch. */
export interface PlantedFault {
  readonly name: string;
  readonly certification: CertificationId;
  /** Planted in the layer that the worker runs. */
  readonly layer?: string;
  /** Planted between us and the real CLI: a program that starts it otherwise than it was asked to. */
  readonly cli?: CliFault;
  /** Planted around the subject: what happens to the machine. */
  readonly machine?:
    | 'service_takes_cli_along'
    | 'fence_is_open'
    | 'record_is_buffered'
    | 'strangers_die_too'
    | 'tmux_is_there';
  /** Run in every way that binds the certification, not in the first alone. */
  readonly inEveryWay?: boolean;
}

/** Faults that fit every provider: in the layer over the real CLI, or in what happens to the machine. */
const everywhere: readonly PlantedFault[] = [
  {
    name: 'starts afresh',
    certification: 'CertSessionContinuationAfterTmuxLoss',
    layer: 'starts_afresh',
  },
  {
    name: 'starts afresh',
    certification: 'CertSessionContinuationAfterProcessLoss',
    layer: 'starts_afresh',
    inEveryWay: true,
  },
  {
    name: 'replays history',
    certification: 'CertNativeResumeOnlyLatestMessage',
    layer: 'replays_history',
    inEveryWay: true,
  },
  { name: 'drops unknown keys', certification: 'CertHandleRoundTrip', layer: 'drops_unknown_keys' },
  { name: 'starts afresh', certification: 'CertNonContinuableError', layer: 'starts_afresh' },
  {
    name: 'skips the folder check',
    certification: 'CertStableWorkingDir',
    layer: 'ignores_changes',
  },
  { name: 'reports another id', certification: 'CertSessionIdentity', layer: 'reports_another_id' },
  {
    name: 'skips the account check',
    certification: 'CertStableAccount',
    layer: 'ignores_changes',
  },
  { name: 'skips the model check', certification: 'CertStableModel', layer: 'ignores_changes' },
  {
    name: 'skips the prompt check',
    certification: 'CertStableSystemPrompt',
    layer: 'ignores_changes',
  },
  { name: 'skips the MCP check', certification: 'CertStableMcpConfig', layer: 'ignores_changes' },
  {
    name: 'skips the policy check',
    certification: 'CertPermissionsAfterResume',
    layer: 'ignores_changes',
  },
  { name: 'takes no lease', certification: 'CertLeaseAcrossProcesses', layer: 'removes_leases' },
  { name: 'has no fence', certification: 'CertFencedOwner', machine: 'fence_is_open' },
  { name: 'forgets turns', certification: 'CertTurnReplay', layer: 'forgets_turns' },
  { name: 'forgets turns', certification: 'CertTurnParking', layer: 'forgets_turns' },
  {
    name: 'trims messages',
    certification: 'CertExactDelivery',
    layer: 'trims_messages',
    inEveryWay: true,
  },
  {
    name: 'buffers its record',
    certification: 'CertDurableBeforeTools',
    machine: 'record_is_buffered',
  },
  {
    name: 'dies with the service',
    certification: 'CertProcessOutlivesService',
    machine: 'service_takes_cli_along',
  },
  { name: 'closes nothing', certification: 'CertNoChildSurvives', layer: 'closes_nothing' },
  { name: 'swallows the loss', certification: 'CertLifecycleEvents', layer: 'swallows_the_loss' },
  { name: 'starts afresh', certification: 'CertParallelSessions', layer: 'starts_afresh' },
  { name: 'forgets why', certification: 'CertHistoryGone', layer: 'forgets_why' },
  { name: 'ends strangers too', certification: 'CertOrphans', machine: 'strangers_die_too' },
  {
    name: 'says nothing of a newer version',
    certification: 'CertVersionBeyondCertified',
    layer: 'swallows_notices',
  },
  {
    name: 'takes another provider for its own',
    certification: 'CertStableProvider',
    layer: 'ignores_provider',
  },
  {
    name: 'counts the trace id',
    certification: 'CertSemanticDigests',
    layer: 'mixes_trace_into_prompt',
  },
];

/** Faults in what one turn does, or says of itself. */
const inTurns: readonly PlantedFault[] = [
  { name: 'renames turns', certification: 'CertProcessDeathMidTurn', layer: 'renames_turns' },
  { name: 'takes errors for answers', certification: 'CertFailures', layer: 'answers_errors' },
  { name: 'hears no interrupt', certification: 'CertInterrupt', layer: 'ignores_interrupts' },
  { name: 'tells lies of steering', certification: 'CertSteer', layer: 'claims_steering' },
  { name: 'allows everything', certification: 'CertApprovalByHost', layer: 'allows_everything' },
  {
    name: 'renames requests',
    certification: 'CertApprovalSurvivesRestart',
    layer: 'renames_requests',
  },
  { name: 'chooses for the host', certification: 'CertQuestionByHost', layer: 'chooses_first' },
  { name: 'waits for nothing', certification: 'CertBackgroundWork', layer: 'never_waits' },
  { name: 'hides compactions', certification: 'CertCompaction', layer: 'swallows_phases' },
  { name: 'counts from the start', certification: 'CertUsage', layer: 'counts_from_the_start' },
  { name: 'hides what it cost', certification: 'CertCost', layer: 'drops_costs' },
  { name: 'drops images', certification: 'CertImages', layer: 'drops_images' },
  { name: 'archives nothing', certification: 'CertArchive', layer: 'archives_nothing' },
  {
    name: 'nudges a cut-off turn',
    certification: 'CertInterruptedTurnFinishes',
    layer: 'nudges_instead',
    inEveryWay: true,
  },
  { name: 'never moves', certification: 'CertTransportMove', layer: 'stays_put' },
  { name: 'never moves', certification: 'CertAutoTransport', layer: 'stays_put' },
  {
    name: 'needs tmux all the same',
    certification: 'CertStructuredWithoutTmux',
    machine: 'tmux_is_there',
  },
];

/** Faults in the CLI itself, as a provider whose messages are typed could have them. */
const typedOnly: readonly PlantedFault[] = [
  {
    name: 'drops --resume',
    certification: 'CertSessionContinuationAfterTmuxLoss',
    cli: 'drops_resume',
  },
  {
    name: 'repeats an old message',
    certification: 'CertNativeResumeOnlyLatestMessage',
    cli: 'repeats_message',
  },
  { name: 'ignores --session-id', certification: 'CertSessionIdentity', cli: 'drops_session_id' },
  {
    name: 'drops the prompt file',
    certification: 'CertStableSystemPrompt',
    cli: 'drops_system_prompt',
  },
  { name: 'drops --mcp-config', certification: 'CertStableMcpConfig', cli: 'drops_mcp_config' },
  {
    name: 'has no gate',
    certification: 'CertMixedTextBlocked',
    cli: 'drops_gate',
  },
  {
    name: 'has no barrier',
    certification: 'CertDurableBeforeTools',
    cli: 'drops_barrier',
  },
  { name: 'hides its children', certification: 'CertNoChildSurvives', cli: 'drops_nonce' },
  { name: 'answers every page', certification: 'CertVirginHome', cli: 'answers_pages' },
  { name: 'reports another id', certification: 'CertSessionIdChange', layer: 'reports_another_id' },
  { name: 'clears drafts', certification: 'CertPersonsDraftKept', layer: 'clears_drafts' },
];

/** The faults for a way of a provider. */
export function listPlantedFaults({ driver }: Pick<Claims, 'driver'>): readonly PlantedFault[] {
  return [...everywhere, ...inTurns, ...(driver === 'typed_pane' ? typedOnly : [])];
}
