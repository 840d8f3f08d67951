// Adding a product to the catalogue.

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

/**
 * Adds the product, or finds the one that the same Idempotency-Key added before.
 * @returns the product as it was when it was added, and whether an earlier request had added it
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

// Changing a product that is there.

export type UpdateProduct = {
  readonly product_id: string
  readonly changes: ProductChanges
  /** Throws when the administrator has not meant the product as it is. */
  readonly permit: (revision: Revision) => void
  /** Throws what is wrong with the request beyond its shape; called when everything else is in order. */
  readonly refuse: () => void
  readonly metadata: EventMetadata
}

/**
 * Changes a product. Of changes at the same time each is made to what the others have left.
 * @throws DomainError what `changeProduct` throws, `concurrent_modification`, `event_store_unavailable`, and what `permit`
 *   and `refuse` throw; nothing is recorded then
 */
export function updateProduct({ store, now }: Workflow, update: UpdateProduct): Promise<LoadedState<ProductState>> {
  const { product_id, changes, permit, refuse, metadata } = update
  return store.handle({
    stream: productStream(product_id),
    fold: productFold,
    decide(state, revision) {
      existingProduct(state)
      permit(revision)
      const events = changeProduct({ occurred_at: now().toISOString(), changes }, state)
      refuse()
      return events
    },
    metadata,
  })
}
