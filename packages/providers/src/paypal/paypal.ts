// Skeleton.
import type { Provider } from '../provider.ts'
export function createPaypal(_options: Readonly<Record<string, unknown>>): Provider {
  throw new Error('not there yet')
}
