// The fake's orders, authorizations, captures and refunds, and the notifications about them.
import type { ChargeLedger } from '../fakeServer.ts'
import { type Authorizations, createAuthorizations } from './authorizations.ts'
import { type Captures, createCaptures } from './captures.ts'
import { authorizationEvent, type PaypalEvent } from './events.ts'
import { createOrders, type Orders } from './orders.ts'
import { authorizationEvents, captureEvents, refundEventOf } from './payer.ts'
import { createRefunds, type Refunds } from './refunds.ts'
import type { Vault } from './vault.ts'

export type PaymentStores = {
  readonly orders: Orders
  readonly authorizations: Authorizations
  readonly captures: Captures
  readonly refunds: Refunds
}

/** @param options `recordEvent`: called for every notification */
export function createPaymentStores(options: {
  readonly ledger: ChargeLedger
  readonly vault: Pick<Vault, 'tokens'>
  readonly apiBase: () => string
  readonly recordEvent: (event: PaypalEvent) => PaypalEvent
}): PaymentStores {
  const { ledger, vault, apiBase, recordEvent } = options
  const recordAll = (events: readonly PaypalEvent[]) => {
    for (const event of events) recordEvent(event)
  }
  const captures = createCaptures({
    ledger,
    onAuthorization: (order, authorization) => recordAll(authorizationEvents(order, authorization)),
    onCapture: (order, capture) => recordAll(captureEvents(order, capture, apiBase())),
  })
  const vaultedKind = (id: string) => Object.keys(vault.tokens.get(id)?.payment_source ?? {})[0]
  const orders = createOrders({ captures, apiBase, vaultedKind })
  const authorizations = createAuthorizations({
    orders: orders.all,
    captures,
    onVoid: (...voided) => void recordEvent(authorizationEvent('PAYMENT.AUTHORIZATION.VOIDED', ...voided)),
  })
  const refunds = createRefunds({
    orders: orders.all,
    onRefund: (refund) => void recordEvent(refundEventOf(refund)),
  })
  return { orders, authorizations, captures, refunds }
}
