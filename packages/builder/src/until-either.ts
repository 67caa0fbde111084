/** A follower's own signal, and the builder's end: whichever comes first. Nobody follows without a signal of their own. */
export function untilEither(
  follow: AbortSignal | undefined,
  closing: AbortSignal | undefined,
): AbortSignal | undefined {
  return follow && closing ? AbortSignal.any([follow, closing]) : follow;
}
