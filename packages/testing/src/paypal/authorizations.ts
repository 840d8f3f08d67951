// The fake's authorizations: captured, voided.

import { valueAt } from '../fakeServer.ts'
import type { Captures } from './captures.ts'
import { centsOf, issueOf, type Money, moneyIn } from './orderRequests.ts'
import { errorResponse, type FakeResponse, missing, respondWith } from './responses.ts'
import { type Authorization, madeIn, type Order, openOf, shownAuthorization, shownCapture } from './shownOrder.ts'

/** @param options `onVoid`: called for every voided authorization */
export function createAuthorizations(options: {
  readonly orders: ReadonlyMap<string, Order>
  readonly captures: Captures
  readonly onVoid: (order: Order, authorization: Authorization) => void
}) {
  const { orders, captures } = options

  return {
    capture(id: string, json: unknown): FakeResponse {
      const found = madeIn(orders, 'authorizations', id)
      if (!found) return missing
      const { order, made: authorization } = found
      const amount = moneyIn(json) ?? authorization.amount
      const issue = captureIssue(order, authorization, amount)
      if (issue) return errorResponse(422, issue)
      const given = { amount, final_capture: valueAt(json, 'final_capture') === true, authorization_id: id }
      const capture = captures.take(order, captures.nextOutcome(), given)
      if (!('id' in capture)) return capture
      const captured = order.captures.filter((each) => each.authorization_id === id && each.status !== 'DECLINED')
      const sum = captured.reduce((cents, each) => cents + centsOf(each.amount), 0)
      if (sum > 0) authorization.status = sum < centsOf(authorization.amount) ? 'PARTIALLY_CAPTURED' : 'CAPTURED'
      return respondWith(201, () => shownCapture(order, capture))
    },
    /** @param isWhole whether to return the authorization, as with `Prefer: return=representation` */
    void(id: string, isWhole: boolean): FakeResponse {
      const found = madeIn(orders, 'authorizations', id)
      if (!found) return missing
      const { order, made: authorization } = found
      if (authorization.status === 'VOIDED') return errorResponse(422, 'PREVIOUSLY_VOIDED')
      if (authorization.status === 'CAPTURED') return errorResponse(422, 'PREVIOUSLY_CAPTURED')
      if (authorization.status === 'DENIED') return errorResponse(422, 'CANNOT_BE_VOIDED')
      authorization.status = 'VOIDED'
      options.onVoid(order, authorization)
      return isWhole
        ? respondWith(200, () => shownAuthorization(order, authorization))
        : respondWith(204, () => undefined)
    },
  }
}

function captureIssue(order: Order, authorization: Authorization, amount: Money): string | undefined {
  const { status } = authorization
  if (status === 'VOIDED' || status === 'DENIED') return `AUTHORIZATION_${status}`
  const open = openOf(order, authorization)
  if (open === 0) return 'AUTHORIZATION_ALREADY_CAPTURED'
  if (amount.currency_code !== authorization.amount.currency_code) return 'AUTH_CAPTURE_CURRENCY_MISMATCH'
  return issueOf(amount) ?? (centsOf(amount) > open ? 'MAX_CAPTURE_AMOUNT_EXCEEDED' : undefined)
}
