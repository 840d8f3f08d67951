// What can be meant, and probably is not: it stops nobody, and operators are told.
import { providerNames } from '@paylog/domain/providerNames'
import { canonicalNames } from './canonicalNames.ts'
import { isLegacyFamily } from './legacy.ts'
import type { EventMode, WebhookEndpoint } from './nodes/nodes.ts'
import { matchesPattern } from './nodes/patterns.ts'
import type { VariableReader } from './nodes/variables.ts'

/**
 * Whether a pattern can cover anything at all that a node of this mode is told. Providers have more names than are known
 * here, so that a raw node's patterns are only checked for the provider.
 */
function canMatch(pattern: string, mode: EventMode): boolean {
  if (pattern === 'all') return true
  const [provider] = pattern.includes(':') ? pattern.split(':') : []
  if (provider !== undefined) return mode !== 'canonical' && providerNames.some((name) => name === provider)
  if (mode === 'canonical') return canonicalNames.some((plain) => matchesPattern(pattern, { plain, prefixed: null }))
  return mode !== 'legacy' || isLegacyFamily(pattern)
}

/**
 * Patterns of a node that never cover anything, as `payments.*` does. They are told by their place: whatever somebody
 * pasted there by mistake may be a secret.
 * @param variable the list's
 */
export function unmatchedPatterns(
  variable: string,
  { patterns, mode }: Pick<WebhookEndpoint, 'patterns' | 'mode'>,
): string[] {
  return patterns.flatMap((pattern, index) =>
    canMatch(pattern, mode)
      ? []
      : [`${variable} covers nothing that a ${mode} node is told with its pattern number ${index + 1}`],
  )
}

/** An endpoint that is in the single list twice is told everything twice. */
export function duplicateUrls(variable: string, endpoints: readonly Pick<WebhookEndpoint, 'url'>[]): string[] {
  const isRepeated = new Set(endpoints.map(({ url }) => url)).size < endpoints.length
  return isRepeated ? [`${variable} names an endpoint twice, which is told everything twice`] : []
}

/** Nodes that have an address, and of which nobody said whether they are enabled. */
export function misconfiguredEndpoints(read: VariableReader): string[] {
  return read.names().flatMap((variable) => {
    const [, number] = /^WEBHOOK_(\d+)_URL$/.exec(variable) ?? []
    if (number === undefined || read.isGiven(`WEBHOOK_${number}_ENABLED`)) return []
    return [`${variable} is not looked at, because WEBHOOK_${number}_ENABLED is not set`]
  })
}
