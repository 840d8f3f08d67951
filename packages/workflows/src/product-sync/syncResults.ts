// How a sync went with one product, in the words of the report.
import type { ProviderSyncState } from '@paylog/domain/products/atProvider'
import type { SyncPlan } from '@paylog/domain/products/sync'
import type { SyncError, SyncResult } from '@paylog/domain/products/syncRequest'
import type { ProviderError } from '@paylog/providers/provider'
import { toDomainError } from '../providerRefusal.ts'

/** The rest of a result is what the client called the product. */
export type ProductResult = Omit<SyncResult, 'product_id'>

/** A result with what is on record of the product at the provider. */
export function successResult(
  status: Exclude<SyncResult['status'], 'failed'>,
  at: ProviderSyncState | undefined,
  { price_differs }: Pick<SyncPlan, 'price_differs'>,
): ProductResult {
  const synced = at?.synced ?? null
  return {
    status,
    ...knownIds(at),
    ...(price_differs && { price_differs }),
    ...(synced?.mapped_locally && { mapped_locally: true }),
    ...(synced !== null && synced.kept_fields.length > 0 && { kept_fields: synced.kept_fields }),
  }
}

export function failedResult(at: ProviderSyncState | undefined, error: SyncError): ProductResult {
  return { status: 'failed', ...knownIds(at), error }
}

export const unknownProduct = failedResult(undefined, { code: 'not_found', message: 'No product with this id' })

function knownIds(at: ProviderSyncState | undefined) {
  const { provider_product_id = null, provider_price_id = null } = at?.synced ?? {}
  return { provider_product_id, provider_price_id }
}

const syncErrorCodes = {
  declined: 'provider_rejected',
  rejected: 'provider_rejected',
  currency: 'currency_not_supported',
  unavailable: 'provider_unavailable',
  unknown: 'provider_outcome_unknown',
} as const

/** The provider's own code stands in the message: an administrator can look up what it means there. */
export function syncErrorOf(error: ProviderError): SyncError {
  return { code: syncErrorCodes[error.kind], message: `${toDomainError(error).message} (${error.code})` }
}
