// The fake's orders, authorizations, captures and refunds, and the notifications about them.
import type { ChargeLedger } from '../fakeServer.ts'
import { createAuthorizations } from './authorizations.ts'
import { createCaptures } from './captures.ts'
import { authorizationEvent, type PaypalEvent } from './events.ts'
import { createOrders } from './orders.ts'
import { authorizationEvents, captureEvents, refundEventOf } from './payer.ts'
import { createRefunds } from './refunds.ts'
import type { Vault } from './vault.ts'

/** @param options `recordEvent`: called for every notification */
export function createPaymentStores(options: {
  readonly ledger: ChargeLedger
  readonly vault: Pick<Vault, 'tokens'>
  readonly apiBase: () => string
  readonly recordEvent: (event: PaypalEvent) => PaypalEvent
}) {
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
