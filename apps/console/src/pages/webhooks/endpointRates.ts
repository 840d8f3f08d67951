// How the newest deliveries of an endpoint went, in words.
import type { EndpointReport } from '../../api/apiTypes.ts'

type Recent = NonNullable<EndpointReport['recent']>

/** The share of successes. It is 100 % only when all succeeded, and 0 % only when none did. */
export function successRate({ deliveries, succeeded }: Pick<Recent, 'deliveries' | 'succeeded'>): string {
  if (deliveries === 0) return '–'
  const percent = (succeeded / deliveries) * 100
  if (succeeded === deliveries || succeeded === 0) return `${percent} %`
  return `${Math.min(99.9, Math.max(0.1, percent)).toFixed(1)} %`
}
