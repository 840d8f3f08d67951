// Creating orders: with the page where the payer approves, or with a saved method that pays at once.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { type CreateIntent, ProviderError, type ProviderIntent } from '../provider.ts'
import type { PaypalApi } from './client.ts'
import { toMoney } from './fields.ts'
import { vaultedSource } from './vault.ts'

/** In bytes, because PayPal counts a non-ASCII character as several. */
const maxDescriptionBytes = 127

const createdOrder = Compile(
  Type.Object({
    id: Code,
    links: Type.Optional(Type.Array(Type.Object({ rel: Type.String(), href: Type.String() }))),
  }),
)

/**
 * Creates an order. The payer approves it at PayPal's page, or it is paid by a saved method: PayPal completes an order with
 * a `vault_id` in the creating call, as https://developer.paypal.com/docs/checkout/save-payment-methods/ says, and the order
 * shows its capture or authorization. The invoice number is the payment id, because PayPal allows only one payment per
 * invoice number: a repeated call whose key PayPal has forgotten takes no money twice.
 * @returns the order, with the link to PayPal's approval page as `client_secret` and `redirect_url`, if it is not paid
 * @throws ProviderError
 */
export async function createOrder(api: PaypalApi, request: CreateIntent): Promise<ProviderIntent> {
  const { idempotency_key: key, provider_method_id, provider_customer_id } = request
  // Only a method that is attached to a customer is a payment token.
  const vaultId = provider_customer_id === null ? null : provider_method_id
  const purchase = purchaseOf(request)
  const source = vaultId === null ? 'paypal' : await vaultedSource(api, vaultId)
  const body = JSON.stringify({ ...purchase, ...paymentSource(request, source, vaultId) })
  const call = { method: 'POST', path: '/v2/checkout/orders', key, body } as const
  const created = await api.request(createdOrder, call).catch((error: unknown) => {
    // An earlier call with the same saved method was paid, and its response was lost.
    if (vaultId !== null && error instanceof ProviderError && error.code === 'duplicate_invoice_id')
      throw new ProviderError('unknown', error.code, 'PayPal has a payment with this invoice number')
    throw error
  })
  const { id, links = [] } = created.body
  const link = links.find(({ rel }) => rel === 'payer-action') ?? links.find(({ rel }) => rel === 'approve')
  const redirect_url = link && isWebAddress(link.href) ? link.href : null
  return { provider_intent_id: id, client_secret: redirect_url, redirect_url }
}

function purchaseOf({ payment_id, amount_cents, currency, capture_method, ...request }: CreateIntent) {
  const description = shortened(request.description ?? '')
  const { statement_descriptor: soft_descriptor } = request
  return {
    intent: capture_method === 'manual' ? 'AUTHORIZE' : 'CAPTURE',
    purchase_units: [
      {
        custom_id: payment_id,
        invoice_id: payment_id,
        amount: toMoney(amount_cents, currency),
        ...(description === '' ? {} : { description }),
        ...(soft_descriptor === null ? {} : { soft_descriptor }),
      },
    ],
  }
}

/** Nothing unless the order needs it: with a payment source only this kind of method can pay. */
function paymentSource({ return_url, cancel_url }: CreateIntent, kind: string, vaultId: string | null) {
  const urls = { ...(return_url === null ? {} : { return_url }), ...(cancel_url === null ? {} : { cancel_url }) }
  const hasUrls = return_url !== null || cancel_url !== null
  if (!hasUrls && vaultId === null) return {}
  // We take the money when the payer approves, so PayPal's button must not say "Continue". Cards have no such button.
  const context = kind === 'paypal' ? { ...urls, user_action: 'PAY_NOW' } : urls
  const isShown = hasUrls && (kind === 'paypal' || kind === 'card')
  const source = { ...(vaultId === null ? {} : { vault_id: vaultId }), ...(isShown && { experience_context: context }) }
  return { payment_source: { [kind]: source } }
}

function shortened(text: string): string {
  // A streaming decoder drops an incomplete character at the end.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxDescriptionBytes), { stream: true })
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}
