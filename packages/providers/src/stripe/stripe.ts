// Skeleton.
import type { Provider } from '../provider.ts'
export function createStripe(_options: Readonly<Record<string, unknown>>): Provider {
  throw new Error('not there yet')
}
