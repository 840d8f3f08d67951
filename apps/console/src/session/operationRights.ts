// Which right each operation needs, by the same table as the routes: the OpenAPI document.
import type { OperationId } from '@paylog/client/client'
import { operationRoutes } from '@paylog/client/operations'
import type { Right } from '@paylog/domain/rights'

/** The document names no right where owners act, too. The console acts for others, which needs one. */
const rightsForOthers: Partial<Record<OperationId, readonly Right[]>> = {
  cancelPayment: ['refund'],
  refreshPayment: ['read'],
}

/** The rights of which one is needed for an operation; none where everybody signed in may call it. */
export const rightsFor = (operation: OperationId): readonly Right[] =>
  rightsForOthers[operation] ?? operationRoutes[operation].rights

/** Whether somebody with these rights may call the operation. */
export function mayCall(rights: readonly Right[], operation: OperationId): boolean {
  const needed = rightsFor(operation)
  return needed.length === 0 || needed.some((right) => rights.includes(right))
}

/** What each right is for, after "the right to". */
export const rightTexts: Readonly<Record<Right, string>> = {
  read: 'look at payments, customers, reports and the state of the system',
  refund: 'refund, capture and cancel payments',
  operate: 'change endpoints and products, send webhooks again, and start jobs',
  export: 'export the log and lists',
  privacy: 'erase people',
  charge: 'charge saved payment methods of others',
}
