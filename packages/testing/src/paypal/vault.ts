// The fake's vault: approved setup tokens, and the payment tokens created from them.

import { valueAt } from '../fakeServer.ts'
import { type PaymentSource, type PaymentToken, type PaypalEvent, tokenCreated, tokenDeleted } from './events.ts'
import { errorResponse, type FakeResponse, paypalId, respondWith, textAt } from './responses.ts'

const maxPageSize = 5

export type Vault = ReturnType<typeof createFakeVault>

/** @param options `recordEvent`: called for every notification */
export function createFakeVault(options: {
  readonly apiBase: () => string
  readonly recordEvent: (event: PaypalEvent) => PaypalEvent
}) {
  const { apiBase, recordEvent } = options
  const setups = new Map<string, PaymentSource>()
  const tokens = new Map<string, PaymentToken>()
  const lostCustomers = new Set<string>()
  const links = (id: string) => [
    { rel: 'self', href: `${apiBase()}/v3/vault/payment-tokens/${id}`, method: 'GET', encType: 'application/json' },
    { rel: 'delete', href: `${apiBase()}/v3/vault/payment-tokens/${id}`, method: 'DELETE' },
  ]
  const remove = (token: string) => (tokens.delete(token) ? recordEvent(tokenDeleted(token)) : undefined)
  return {
    /** The payer approves saving a method. @returns the client's setup token */
    approveSetup(source: PaymentSource): string {
      const id = paypalId()
      setups.set(id, source)
      return id
    },
    showSetup(token: string): FakeResponse {
      const payment_source = setups.get(token)
      if (!payment_source) return errorResponse(404, 'TOKEN_NOT_FOUND')
      return respondWith(200, () => ({ id: token, status: 'APPROVED', payment_source, links: [] }))
    },
    attach(json: unknown): FakeResponse {
      const setup = textAt(json, /^.+$/, 'payment_source', 'token', 'id')
      const isSetup = valueAt(json, 'payment_source', 'token', 'type') === 'SETUP_TOKEN'
      const customer = customerOf(valueAt(json, 'customer'))
      if (setup === undefined || !isSetup || !customer) return errorResponse(400, 'INVALID_PARAMETER_SYNTAX')
      if (lostCustomers.has(customer.id)) return errorResponse(404, 'INVALID_RESOURCE_ID', '/customer/id')
      const payment_source = setups.get(setup)
      if (!payment_source) return errorResponse(422, 'INVALID_TOKEN_ID')
      // A setup token can be used once.
      setups.delete(setup)
      const id = paypalId().toLowerCase().slice(0, 8)
      const token = { id, customer, payment_source }
      tokens.set(id, token)
      recordEvent(tokenCreated(token, apiBase()))
      return respondWith(201, () => ({ ...token, links: links(id) }))
    },
    show(token: string): FakeResponse {
      const found = tokens.get(token)
      return found ? respondWith(200, () => ({ ...found, links: links(token) })) : errorResponse(404, 'TOKEN_NOT_FOUND')
    },
    /** A page of a customer's payment tokens. */
    list(search: URLSearchParams): FakeResponse {
      const [customer, size, page] = [
        search.get('customer_id'),
        ...['page_size', 'page'].map((name) => search.get(name)),
      ]
      const [pageSize, number] = [Number(size ?? maxPageSize), Number(page ?? 1)]
      const isValid =
        pageSize >= 1 && pageSize <= maxPageSize && number >= 1 && /^[0-9a-zA-Z_-]{7,36}$/.test(customer ?? '')
      if (!isValid) return errorResponse(400, 'INVALID_PARAMETER_VALUE')
      const own = [...tokens.values()].filter((token) => token.customer.id === customer)
      // A guess, because PayPal does not document how it responds for an unknown customer.
      if (own.length === 0) return errorResponse(404, 'RESOURCE_NOT_FOUND')
      const start = (number - 1) * pageSize
      const payment_tokens = own.slice(start, start + pageSize).map((token) => ({ ...token, links: links(token.id) }))
      return respondWith(200, () => ({ customer: { id: customer }, payment_tokens, links: [] }))
    },
    detach: (token: string) =>
      remove(token) ? respondWith(204, () => undefined) : errorResponse(404, 'TOKEN_NOT_FOUND'),
    /** The payment tokens by id. */
    tokens: tokens as ReadonlyMap<string, PaymentToken>,
    /** The payer removes a method at PayPal, which sends `VAULT.PAYMENT-TOKEN.DELETED`. */
    remove(token: string): PaypalEvent {
      const event = remove(token)
      if (event) return event
      throw new Error(`There is no payment token ${token}`)
    },
    /** The bank replaces a card; PayPal sends no notification. */
    change(token: string, payment_source: PaymentSource) {
      const found = tokens.get(token)
      if (!found) throw new Error(`There is no payment token ${token}`)
      tokens.set(token, { ...found, payment_source })
    },
    /** PayPal loses a customer. The error response is a guess, because PayPal does not document it. */
    loseCustomer: (id: string) => void lostCustomers.add(id),
  }
}

/** The customer in a request, or a new one; `undefined` for an invalid customer. */
function customerOf(requested: unknown): { readonly id: string } | undefined {
  const id = valueAt(requested, 'id') === undefined ? paypalId() : textAt(requested, /^[0-9a-zA-Z_-]{1,22}$/, 'id')
  const named = valueAt(requested, 'merchant_customer_id')
  const merchant_customer_id = textAt(requested, /^[0-9a-zA-Z_.^*$@#-]{1,64}$/, 'merchant_customer_id')
  if (id === undefined || (named !== undefined && merchant_customer_id === undefined)) return undefined
  return { id, ...(merchant_customer_id === undefined ? {} : { merchant_customer_id }) }
}
