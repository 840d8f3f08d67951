// Vault: setup tokens that a payer approved, and the payment tokens that come of them.
import { type Answer, answer, refusal } from './answers.ts'
import { paypalId } from './ids.ts'
import { at, textAt } from './json.ts'

export type PaymentSource = Readonly<Record<string, object>>

export type Vault = {
  /** The payer has agreed to something being saved. @returns the setup token that the client gets */
  approveSetup(source: PaymentSource): string
  showSetup(token: string): Answer
  attach(json: unknown): Answer
  detach(token: string): Answer
  /** The payment tokens there are, by their id. */
  readonly tokens: ReadonlyMap<string, { readonly customer: object; readonly payment_source: PaymentSource }>
}

export function createFakeVault(apiBase: () => string): Vault {
  const setups = new Map<string, PaymentSource>()
  const tokens = new Map<string, { readonly customer: object; readonly payment_source: PaymentSource }>()
  const links = (id: string) => [
    { rel: 'self', href: `${apiBase()}/v3/vault/payment-tokens/${id}`, method: 'GET', encType: 'application/json' },
    { rel: 'delete', href: `${apiBase()}/v3/vault/payment-tokens/${id}`, method: 'DELETE' },
  ]
  return {
    approveSetup(source) {
      const id = paypalId()
      setups.set(id, source)
      return id
    },
    showSetup(token) {
      const payment_source = setups.get(token)
      if (!payment_source) return refusal(404, 'TOKEN_NOT_FOUND')
      return answer(200, () => ({ id: token, status: 'APPROVED', payment_source, links: [] }))
    },
    attach(json) {
      const setup = textAt(json, /^.+$/, 'payment_source', 'token', 'id')
      const isSetup = at(json, 'payment_source', 'token', 'type') === 'SETUP_TOKEN'
      const customer = customerOf(at(json, 'customer'))
      if (setup === undefined || !isSetup || !customer) return refusal(400, 'INVALID_PARAMETER_SYNTAX')
      const payment_source = setups.get(setup)
      if (!payment_source) return refusal(422, 'INVALID_TOKEN_ID')
      // A setup token is good for one payment token.
      setups.delete(setup)
      const id = paypalId().toLowerCase().slice(0, 8)
      tokens.set(id, { customer, payment_source })
      return answer(201, () => ({ id, customer, payment_source, links: links(id) }))
    },
    detach(token) {
      return tokens.delete(token) ? answer(204, () => undefined) : refusal(404, 'TOKEN_NOT_FOUND')
    },
    tokens,
  }
}

/** The customer that a request names, else a new one; nothing when it is not named as PayPal wants it. */
function customerOf(asked: unknown): { readonly id: string } | undefined {
  const id = at(asked, 'id') === undefined ? paypalId() : textAt(asked, /^[0-9a-zA-Z_-]{1,22}$/, 'id')
  const named = at(asked, 'merchant_customer_id')
  const merchant_customer_id = textAt(asked, /^[0-9a-zA-Z_.^*$@#-]{1,64}$/, 'merchant_customer_id')
  if (id === undefined || (named !== undefined && merchant_customer_id === undefined)) return undefined
  return { id, ...(merchant_customer_id === undefined ? {} : { merchant_customer_id }) }
}
