// Every list of the API, described once for the tests of what all lists have in common.
import { addressList } from '../addresses/queries.ts'
import { anyPaymentList } from '../admin-payments/queries.ts'
import { anyRefundList } from '../admin-refunds/queries.ts'
import { auditTrailList } from '../audit-trail/queries.ts'
import { disputeList } from '../disputes/queries.ts'
import type { List } from '../lists/defineList.ts'
import { paymentMethodList } from '../payment-methods/queries.ts'
import { paymentList, paymentListWithMethods } from '../payments/queries.ts'
import { productList } from '../products/queries.ts'

type Described = {
  /** Absent for the webhook log, which has its own queries. */
  readonly list?: List
  /** Whether rows belong to somebody. Not derived from `readBy` of the list, so that a list without it is found. */
  readonly isOwned: boolean
  /** The projections that a read waits for. */
  readonly reads: readonly string[]
}

/** By a path with a valid query. Those under /admin are for administrators. */
export const describedLists: Readonly<Record<string, Described>> = {
  '/payments': { list: paymentList, isOwned: true, reads: ['payments'] },
  '/payments?include=payment_method': {
    list: paymentListWithMethods,
    isOwned: true,
    reads: ['payments', 'payment_methods'],
  },
  '/payment-methods': { list: paymentMethodList, isOwned: true, reads: ['payment_methods', 'defaults'] },
  '/addresses': { list: addressList, isOwned: true, reads: ['addresses', 'defaults'] },
  '/admin/payment-methods?user_id=x': {
    list: paymentMethodList,
    isOwned: true,
    reads: ['payment_methods', 'defaults'],
  },
  '/admin/addresses?user_id=x': { list: addressList, isOwned: true, reads: ['addresses', 'defaults'] },
  '/admin/payments': { list: anyPaymentList, isOwned: false, reads: ['payments', 'refunds', 'disputes'] },
  '/admin/products': { list: productList, isOwned: false, reads: ['products'] },
  '/admin/refunds': { list: anyRefundList, isOwned: false, reads: ['refunds', 'payments'] },
  '/admin/disputes': { list: disputeList, isOwned: false, reads: ['disputes', 'payments'] },
  '/admin/audit-trail': { list: auditTrailList, isOwned: false, reads: ['audit_trail'] },
  '/webhooks/logs': { isOwned: true, reads: [] },
}

export const pathOf = (url: string) => url.split('?')[0] ?? url

const listsWhere = (isOwned: boolean): readonly List[] => [
  ...new Set(Object.values(describedLists).flatMap((each) => (each.isOwned === isOwned && each.list) || [])),
]
export const ownLists = listsWhere(true)
export const everybodysLists = listsWhere(false)
