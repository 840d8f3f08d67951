// Why a search for transactions has no result. Not to have found one in a part of the lists says nothing.
import { ProviderError } from '../provider.ts'

export function searchTooLargeError(): ProviderError {
  return new ProviderError('unknown', 'search_too_large', 'There are too many transactions to search')
}

export function throwSearchTimeout(): never {
  throw new ProviderError('unknown', 'timeout', 'The search for transactions took too long')
}
