// Stream names, one builder per category. A category contains no dash, because EventStoreDB splits at the first one.

export const categories = [
  'payment',
  'paymentMethod',
  'address',
  'product',
  'defaultChoice',
  'providerEvent',
  'providerCustomer',
  'setupIntent',
  'guestToken',
  'webhookTest',
  'idempotentRequest',
  'erasure',
  'auditTrail',
  'auditCheckpoint',
  'clock',
  'sharedFact',
] as const
type Category = (typeof categories)[number]

export type StreamName = string

const streamName = (category: Category, id: string): StreamName => `${category}-${id}`

/** `payment` for `payment-<id>`. */
export function categoryOf(stream: StreamName): string {
  const [category = ''] = stream.split('-', 1)
  return category
}

export const paymentStream = (paymentId: string) => streamName('payment', paymentId)

export const paymentMethodStream = (paymentMethodId: string) => streamName('paymentMethod', paymentMethodId)

export const addressStream = (addressId: string) => streamName('address', addressId)

export const productStream = (productId: string) => streamName('product', productId)

/** @param listId derived from a list of payment methods or addresses and its owner */
export const defaultChoiceStream = (listId: string) => streamName('defaultChoice', listId)

export const providerEventStream = (provider: string, eventId: string) =>
  streamName('providerEvent', `${provider}:${encoded(eventId)}`)

/** @param objectId the provider's. A category that version 1.0.0 does not read: it would stop at an event that it does not know. */
export const sharedFactStream = (provider: string, kind: string, objectId: string) =>
  streamName('sharedFact', `${provider}:${kind}:${encoded(objectId)}`)

/** @param userId our user, whom the provider's customer object represents */
export const providerCustomerStream = (provider: string, userId: string) =>
  streamName('providerCustomer', `${provider}:${encoded(userId)}`)

/** @param customerId the provider's. Cannot be the name of a user's stream, because an encoded user id has no colon. */
export const customerDeletionStream = (provider: string, customerId: string) =>
  streamName('providerCustomer', `${provider}:customer:${encoded(customerId)}`)

export const setupIntentStream = (setupIntentId: string) => streamName('setupIntent', setupIntentId)

/** @param tokenHash SHA-256 of the token in hex; the token itself is never recorded */
export const guestTokenStream = (tokenHash: string) => streamName('guestToken', tokenHash)

/** @param testId id of a webhook test or simulation */
export const webhookTestStream = (testId: string) => streamName('webhookTest', testId)

/** @param requestId derived from an Idempotency-Key */
export const idempotentRequestStream = (requestId: string) => streamName('idempotentRequest', requestId)

export const erasureStream = (erasureId: string) => streamName('erasure', erasureId)

/** @param actionId id of what an administrator did */
export const auditTrailStream = (actionId: string) => streamName('auditTrail', actionId)

/** @param size of the tree, in leaves */
export const auditCheckpointStream = (size: number) => streamName('auditCheckpoint', String(size))

/** Percent-encodes, so that stream names are ASCII for every provider id, even one with lone surrogates. */
const encoded = (id: string) => encodeURIComponent(id.toWellFormed())

/** One stream for each comparison of clocks. */
export const clockStream = (comparisonId: string) => streamName('clock', comparisonId)
