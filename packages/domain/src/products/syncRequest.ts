// The report of a synchronisation, and the record of the request for one that came with an Idempotency-Key.
import { type Static, Type } from 'typebox'
import type { EventsOf } from '../events.ts'
import { Nullable } from '../fields.ts'
import { RequestBegun, requestEnded, requestRules } from '../idempotentRequest.ts'

/** Why a product could not be synchronised. Beside the codes of refused requests there is one for products that rest. */
export const SyncError = Type.Object({
  code: Type.Enum([
    'not_found',
    'product_inactive',
    'currency_not_supported',
    'provider_rejected',
    'provider_unavailable',
    'provider_outcome_unknown',
    'concurrent_modification',
  ]),
  message: Type.String(),
})
export type SyncError = Static<typeof SyncError>

/** How it went with one product; of a dry run, how it would go. */
export const SyncResult = Type.Object({
  product_id: Type.String({ description: 'As it was written in the request' }),
  status: Type.Enum(['created', 'updated', 'skipped', 'failed']),
  provider_product_id: Nullable(Type.String()),
  provider_price_id: Nullable(Type.String({ description: 'Of the price or the plan' })),
  error: Type.Optional(SyncError),
  price_differs: Type.Optional(
    Type.Literal(true, { description: 'The provider has another price, which was left as it is' }),
  ),
  mapped_locally: Type.Optional(
    Type.Literal(true, { description: 'The provider has no catalogue: our own id stands for the product there' }),
  ),
  kept_fields: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Fields that the provider does not let be changed, and which are different there',
    }),
  ),
})
export type SyncResult = Static<typeof SyncResult>

const Count = Type.Integer({ minimum: 0 })

/** `total = successful + failed`; what was skipped is a success. */
export const SyncReport = Type.Object({
  total: Count,
  successful: Count,
  failed: Count,
  /** In the order of the request, each product once. */
  results: Type.Array(SyncResult),
  summary: Type.Object({ created: Count, updated: Count, skipped: Count, failed: Count }),
})
export type SyncReport = Static<typeof SyncReport>

export const productSyncRequestEvents = {
  /** A request with an Idempotency-Key, about to be carried out. */
  ProductSyncRequested: RequestBegun,
  ProductSyncAnswered: requestEnded(Type.Object({ kind: Type.Literal('reported'), report: SyncReport })),
}
export type ProductSyncRequestEvent = EventsOf<typeof productSyncRequestEvents>

/** An answer that a repeated request gets as well. */
export type RecordedReport = { readonly kind: 'reported'; readonly report: SyncReport }

export const syncRequestRules = requestRules<RecordedReport, ProductSyncRequestEvent>({
  begun: (data) => ({ type: 'ProductSyncRequested', data }),
  ended: (data) => ({ type: 'ProductSyncAnswered', data }),
})
