// The report of a product sync.
import { type Static, Type } from 'typebox'
import { Nullable } from '../fields.ts'

/** Why a product could not be synced. The codes are those of API errors, plus `product_inactive` and `sync_in_progress`. */
export const SyncError = Type.Object(
  {
    code: Type.Enum([
      'not_found',
      'product_inactive',
      'sync_in_progress',
      'currency_not_supported',
      'provider_rejected',
      'provider_unavailable',
      'provider_outcome_unknown',
      'concurrent_modification',
    ]),
    message: Type.String(),
  },
  { title: 'SyncError' },
)
export type SyncError = Static<typeof SyncError>

/** The result for one product; in a dry run, the expected result. */
export const SyncResult = Type.Object(
  {
    product_id: Type.String({ description: 'The id as given in the request' }),
    status: Type.Enum(['created', 'updated', 'skipped', 'failed']),
    provider_product_id: Nullable(Type.String()),
    provider_price_id: Nullable(Type.String({ description: 'Id of the price or plan' })),
    error: Type.Optional(SyncError),
    price_differs: Type.Optional(
      Type.Literal(true, { description: 'The provider has another price, which was left unchanged' }),
    ),
    mapped_locally: Type.Optional(
      Type.Literal(true, { description: 'The provider has no catalogue and uses our product id' }),
    ),
    kept_fields: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Fields that differ at the provider, which does not allow changing them',
      }),
    ),
  },
  { title: 'SyncResult' },
)
export type SyncResult = Static<typeof SyncResult>

const Count = Type.Integer({ minimum: 0 })

/** `total = successful + failed`; skipped products count as successful. */
export const SyncReport = Type.Object(
  {
    total: Count,
    successful: Count,
    failed: Count,
    /** In the order of the request, each product once. */
    results: Type.Array(SyncResult),
    summary: Type.Object({ created: Count, updated: Count, skipped: Count, failed: Count }),
  },
  { title: 'SyncReport' },
)
export type SyncReport = Static<typeof SyncReport>
