import type { ProviderState } from '../api/apiTypes.ts'

export type Mode = 'live' | 'mixed' | 'test' | 'sandbox'

/** Whether real money moves at all providers, some, or none; null without an enabled provider. */
export function modeOf(providers: readonly Pick<ProviderState, 'mode'>[]): Mode | null {
  const modes = new Set(providers.map(({ mode }) => mode).filter((mode) => mode !== null))
  if (modes.size === 0) return null
  if (modes.has('live')) return modes.size === 1 ? 'live' : 'mixed'
  return modes.has('test') ? 'test' : 'sandbox'
}
