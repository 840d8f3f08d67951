// The judge's rules for what callers see: only their own, and what they have just written.
import type { Observations, Violation } from './observations.ts'

/** Any other answer would tell something. An error of the server tells nothing, and neither does a request that took too long. */
const denied: readonly number[] = [403, 404, 408, 429]

export function judgePrivacy({ reads, intrusions, sightings }: Observations): Violation[] {
  return [
    ...sightings
      .filter(({ caller, owner }) => caller !== owner)
      .map(({ caller, owner, request, times }) => ({
        rule: "another owner's data",
        story: `${caller} saw what belongs to ${owner} ${times} times, first in the response to ${request}`,
      })),
    ...intrusions
      .filter(({ status }) => status < 500 && !denied.includes(status))
      .map(({ owner, request, status }) => ({
        rule: "another owner's data",
        story: `${owner} got ${status} for ${request}, which belongs to somebody else`,
      })),
    ...reads
      .filter(({ is_right, is_stale }) => !is_right && !is_stale)
      .map(({ request, status, expected }) => ({
        rule: 'own write not shown',
        story: `${request} responded ${status} without ${expected}, and did not say that it is stale`,
      })),
  ]
}
