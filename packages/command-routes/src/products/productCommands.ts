// Creates and updates products.

import type { EventMetadata } from '@paylog/domain/events'
import { requireSameRequest } from '@paylog/domain/idempotentRequest'
import type { ProductChanges } from '@paylog/domain/products/content'
import type { ProductAdded } from '@paylog/domain/products/events'
import {
  addProduct,
  changeProduct,
  existingProduct,
  type ProductState,
  productFold,
} from '@paylog/domain/products/product'
import type { Revision } from '@paylog/event-store/append/append'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'

export type CreateProduct = { readonly product: ProductAdded['data']; readonly metadata: EventMetadata }

export type UpdateProduct = {
  readonly product_id: string
  readonly changes: ProductChanges
  /** Throws when the request's If-Match does not allow this revision. */
  readonly checkRevision: (revision: Revision) => void
  /** Throws for a body with card data. Called last, when everything else is valid. */
  readonly checkBody: () => void
  readonly metadata: EventMetadata
}

/**
 * Adds a product, or finds the one that the same Idempotency-Key added.
 * @returns the product as it was when it was added; `replayed` is true when an earlier request added it
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`
 */
export async function createProduct(
  { store }: Workflow,
  { product, metadata }: CreateProduct,
): Promise<LoadedState<ProductState> & { readonly replayed: boolean }> {
  const stream = productStream(product.product_id)
  const added = await store.handle({
    stream,
    fold: productFold,
    decide: (state) => addProduct(product, state),
    metadata,
    known: newStream(productFold),
  })
  if (added.events.length > 0) return { ...added, replayed: false }
  const first = await store.load(stream, productFold, 'ProductAdded')
  requireSameRequest(existingProduct(first.state), product.request_fingerprint)
  return { ...first, replayed: true }
}

/**
 * Changes a product. Concurrent changes apply one after the other.
 * @throws DomainError `concurrent_modification`, `event_store_unavailable`, and the errors of `changeProduct`,
 *   `checkRevision` and `checkBody`; nothing is recorded then
 */
export function updateProduct({ store, now }: Workflow, update: UpdateProduct): Promise<LoadedState<ProductState>> {
  const { product_id, changes, checkRevision, checkBody, metadata } = update
  return store.handle({
    stream: productStream(product_id),
    fold: productFold,
    decide(state, revision) {
      existingProduct(state)
      checkRevision(revision)
      const events = changeProduct({ occurred_at: now().toISOString(), changes }, state)
      checkBody()
      return events
    },
    metadata,
  })
}
