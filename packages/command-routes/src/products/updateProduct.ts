// Changing a product that is there.
import type { EventMetadata } from '@paylog/domain/messages'
import type { ProductChanges } from '@paylog/domain/products/content'
import { changeProduct, existingProduct, type ProductState, productFold } from '@paylog/domain/products/product'
import type { Revision } from '@paylog/event-store/append/appending'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'

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
