/**
 * How far a job, an export or a comparison is, from its position in the log.
 * @returns from 0 to 1; null when it is not known yet
 */
export function shareOf(position: string | null, head: string | null): number | null {
  if (position === null || head === null || !/^\d+$/.test(position) || !/^\d+$/.test(head)) return null
  const end = BigInt(head)
  if (end === 0n) return 1
  return Math.min(1, Number((BigInt(position) * 10_000n) / end) / 10_000)
}
