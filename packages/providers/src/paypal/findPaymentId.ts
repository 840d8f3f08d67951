// Finds the payment that a notification is about, when the notification does not name it.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import type { ProviderIds } from '../provider.ts'
import { nullIfRejected, unreadableResponse } from '../responses.ts'
import type { PaypalApi } from './client.ts'
import { orderIn, paymentIdIn } from './fields.ts'

const withId = Compile(Type.Object({ id: Code }))

/** Ids of another form are not sent: the object of a generic event may have any id. */
const idForm = /^[A-Za-z0-9-]{1,36}$/

/**
 * The payment that the order names. Without an order id, the capture names the payment or its order.
 * @throws ProviderError
 */
export async function findPaymentId(
  api: PaypalApi,
  { provider_intent_id, provider_payment_id }: ProviderIds,
): Promise<string | null> {
  /** `null` for an id that PayPal does not know. */
  async function read(path: string, id: string | null): Promise<unknown> {
    if (id === null || !idForm.test(id)) return null
    const found = await api.request(withId, { method: 'GET', path: `${path}/${id}` }).catch(nullIfRejected)
    if (found && found.body.id !== id) throw unreadableResponse('another_object')
    return found?.body ?? null
  }

  const capture = provider_intent_id === null ? await read('/v2/payments/captures', provider_payment_id) : null
  return paymentIdIn(capture) ?? paymentIdIn(await read('/v2/checkout/orders', provider_intent_id ?? orderIn(capture)))
}
