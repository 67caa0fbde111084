import type { CertificationId } from '@holdfast/provider-core/certification';
import type { CliFault } from './wrap-cli.js';

/** A fault that one proof must catch. */
export interface PlantedFault {
  readonly name: string;
  readonly certification: CertificationId;
  /** Planted in the layer that the worker runs. */
  readonly layer?: string;
  /** Planted between us and the real CLI: a program that starts it otherwise than it was asked to. */
  readonly cli?: CliFault;
  /** How often the fault may have no effect before the proof counts as blind; once when absent. */
  readonly attempts?: number;
  /** Planted around the subject: what happens to the machine. */
  readonly machine?: 'service_takes_cli_along' | 'fence_is_open' | 'record_is_buffered';
}

/** Faults that fit every provider: in the layer over the real CLI, or in what happens to the machine. */
const everywhere: readonly PlantedFault[] = [
  {
    name: 'starts afresh',
    certification: 'CertSessionContinuationAfterTmuxLoss',
    layer: 'starts_afresh',
  },
  {
    name: 'replays history',
    certification: 'CertNativeResumeOnlyLatestMessage',
    layer: 'replays_history',
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
  { name: 'trims messages', certification: 'CertExactDelivery', layer: 'trims_messages' },
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
    name: 'nudges a cut-off turn',
    certification: 'CertInterruptedTurnFinishes',
    layer: 'nudges_instead',
  },
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
    // A race that the CLI's own timer wins now and then, the more so on a busy machine.
    attempts: 6,
  },
  { name: 'hides its children', certification: 'CertNoChildSurvives', cli: 'drops_nonce' },
  { name: 'answers every page', certification: 'CertVirginHome', cli: 'answers_pages' },
  { name: 'reports another id', certification: 'CertSessionIdChange', layer: 'reports_another_id' },
  { name: 'clears drafts', certification: 'CertPersonsDraftKept', layer: 'clears_drafts' },
];

/** The faults for a provider; `isTyped` tells whether its messages are typed into a pane. */
export function listPlantedFaults(isTyped: boolean): readonly PlantedFault[] {
  return isTyped ? [...everywhere, ...typedOnly] : everywhere;
}
