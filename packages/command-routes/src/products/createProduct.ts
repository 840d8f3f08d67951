// Adding a product to the catalogue.
import { requireSameRequest } from '@paylog/domain/idempotencyKey'
import type { EventMetadata } from '@paylog/domain/messages'
import type { ProductAdded } from '@paylog/domain/products/events'
import { addProduct, existingProduct, type ProductState, productFold } from '@paylog/domain/products/product'
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
