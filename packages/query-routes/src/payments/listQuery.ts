// The query string of GET /payments (interface, section 4.2), and the question that it asks.
import { DomainError } from '@paylog/domain/errors'
import { Instant } from '@paylog/domain/fields'
import { PaymentStatus } from '@paylog/domain/payments/status'
import type { PaymentsQuery } from '@paylog/projections/payments/queries'
import { type Static, Type } from 'typebox'
import { listParameters, OrderDir, searchParameter } from '../lists.ts'

export const OrderBy = Type.Enum(['created_at', 'amount_cents', 'status', 'updated_at'])

export const ListQuery = Type.Object({
  ...listParameters,
  status: Type.Optional(Type.With(PaymentStatus, { description: 'Only those with this status' })),
  search: searchParameter('the id, an e-mail or the description'),
  created_at_from: Type.Optional(
    Type.With(Instant, {
      description: 'Only those created after this time, which has an offset (its + is written %2B)',
    }),
  ),
  created_at_to: Type.Optional(
    Type.With(Instant, { description: 'Only those created before this time, which has an offset' }),
  ),
  orderBy: Type.Enum(OrderBy.enum, {
    default: 'created_at',
    description: 'What the order is by; the status sorts as text',
  }),
  orderDir: Type.Enum(OrderDir.enum, { default: 'desc', description: 'Ascending or descending' }),
  include: Type.Optional(Type.String({ description: 'Comma-separated: payment_method', examples: ['payment_method'] })),
})

/** @throws DomainError `invalid_request` for an unknown `include` and for a time that no clock shows. */
export function toPaymentsQuery(owner: string, query: Static<typeof ListQuery>): PaymentsQuery {
  const { page, limit, status, search, orderBy, orderDir, guest_email } = query
  return {
    owner,
    status,
    search: search === '' ? undefined : search,
    guest_email,
    created_after: timeBound('created_at_from', query.created_at_from, Math.floor),
    created_before: timeBound('created_at_to', query.created_at_to, Math.ceil),
    orderBy,
    orderDir,
    page,
    limit,
    withMethod: includesMethod(query.include),
  }
}

/** Payments are made on whole milliseconds. A bound between two of them is moved to the one that leaves the answer right. */
function timeBound(
  field: string,
  text: string | undefined,
  toWhole: (milliseconds: number) => number,
): Date | undefined {
  if (text === undefined) return undefined
  const whole = Date.parse(text)
  // A leap second passes the format and is no time to a computer.
  if (Number.isNaN(whole)) throw invalidQuery(field, 'must be a time')
  const beyond = /\.\d{3}(\d+)/.exec(text)?.[1] ?? '0'
  return new Date(whole + toWhole(Number(`0.${beyond}`)))
}

/** @throws DomainError `invalid_request` */
export function includesMethod(include: string | undefined): boolean {
  if (include === undefined) return false
  if (include.split(',').some((related) => related.trim() !== 'payment_method'))
    throw invalidQuery('include', 'knows only payment_method')
  return true
}

function invalidQuery(field: string, message: string): DomainError {
  return new DomainError('invalid_request', `The query is invalid: ${field} ${message}`, {
    fields: [{ field, message }],
  })
}
