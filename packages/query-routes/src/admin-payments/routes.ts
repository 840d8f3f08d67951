// GET /admin/payments: everybody's payments, for administrators.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { exampleListedPayment } from '@paylog/domain/examples'
import { Nullable } from '@paylog/domain/fields'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { PaymentStatus } from '@paylog/domain/payments/payment'
import { ListedPayment } from '@paylog/domain/payments/resource'
import {
  type AnyPaymentOrder,
  type AnyPaymentsQuery,
  listAnyPayments,
  maxTotal,
} from '@paylog/projections/payments/adminQueries'
import { cursorParameter, decodeCursor, encodeCursor, NextCursor, type OrderedValue } from '@paylog/runtime/http/cursor'
import { type Static, Type } from 'typebox'
import { staleHeader } from '../readAfter.ts'
import {
  administratorSchema,
  exactParameter,
  Flag,
  OrderDir,
  type QueryDependencies,
  searchParameter,
} from '../routeSchemas.ts'
import { createdFrom, createdTo, timeBound } from '../timeBounds.ts'

const flag = (what: string) =>
  Type.Optional(Type.With(Flag, { description: `Only payments that are, or are not, ${what}` }))

/** The largest integer that JSON and JavaScript keep exactly. */
const amount = (bound: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: `Only payments of ${bound} this amount`,
    }),
  )

const ListQuery = Type.Object({
  status: Type.Optional(Type.With(PaymentStatus, { description: 'Only payments with this status' })),
  provider_id: exactParameter('payments of this provider'),
  user_id: exactParameter('payments of this user'),
  guest_email: exactParameter('payments with this guest e-mail, ignoring the case of ASCII letters'),
  reference_code: exactParameter('payments with exactly this reference'),
  search: Type.With(searchParameter(''), {
    description:
      'An id of ours or of the provider (intent, charge, refund, dispute), an e-mail or a reference, each as a whole; ' +
      'or words of the description: all of them, in any order, each at least by its beginning',
  }),
  created_at_from: createdFrom,
  created_at_to: createdTo,
  amount_from: amount('at least'),
  amount_to: amount('at most'),
  currency: Type.Optional(Type.String({ pattern: '^[A-Za-z]{3}$', description: 'Only payments in this currency' })),
  refunded: flag('refunded, at least in part'),
  disputed: flag('disputed, with any outcome'),
  attention: flag('something that a human has to look at'),
  orderBy: Type.Enum(['created_at', 'updated_at', 'amount_cents'], {
    default: 'created_at',
    description: 'Sort field',
  }),
  orderDir: Type.Enum(OrderDir.enum, { default: 'desc', description: 'Sort direction' }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items per page' }),
  cursor: cursorParameter,
})

const AnyListedPayment = Type.Interface(
  [Type.Omit(ListedPayment, ['payment_method'])],
  {
    dispute_status: Nullable(DisputeStatus),
    user_id: Nullable(Type.String({ description: 'Null for a payment without a session' })),
    attention: Type.Boolean({ description: 'Whether a human has to look at it; GET /admin/payments/{id} says why' }),
  },
  { title: 'AnyListedPayment' },
)

const ListResponse = Type.Object(
  {
    success: Type.Literal(true),
    data: Type.Array(AnyListedPayment),
    meta: Type.Object({
      limit: Type.Integer(),
      next_cursor: NextCursor,
      total: Type.Integer({ description: `Counted up to ${maxTotal}` }),
      total_is_exact: Type.Boolean(),
    }),
  },
  {
    description: 'A page of payments',
    headers: staleHeader,
    examples: [
      {
        success: true,
        data: [{ ...exampleListedPayment, user_id: null, dispute_status: null, attention: false }],
        meta: { limit: 20, next_cursor: null, total: 1, total_is_exact: true },
      },
    ],
  },
)

export function adminPaymentRoutes({ db, administrator, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get(
      '/admin/payments',
      {
        onRequest: administrator,
        // A search reads refunds and disputes by their ids.
        preHandler: readAfter('payments', 'refunds', 'disputes'),
        schema: {
          ...administratorSchema('payments', 'listAnyPayments', 'List the payments of everybody'),
          querystring: ListQuery,
          response: { 200: ListResponse },
        },
      },
      async ({ query }) => {
        const criteria = toAnyPaymentsQuery(query)
        const { limit, orderBy } = criteria
        const list = listIdentity(criteria)
        const after = query.cursor === undefined ? undefined : decodeCursor(list, orderedValues[orderBy], query.cursor)
        const { items, next, total, isExact } = await listAnyPayments(db, { ...criteria, after })
        const meta = { limit, next_cursor: encodeCursor(list, next), total, total_is_exact: isExact }
        return { success: true as const, data: [...items], meta }
      },
    )
  }
}

const orderedValues: Readonly<Record<AnyPaymentOrder, OrderedValue>> = {
  created_at: 'time',
  updated_at: 'time',
  amount_cents: 'integer',
}

/** The order and the filters, to which a cursor is tied. */
function listIdentity({ limit: _limit, created_after, created_before, ...query }: AnyPaymentsQuery) {
  const others = Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const values = others.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]))
  return ['anyPayments', created_after?.toISOString(), created_before?.toISOString(), ...values]
}

function toAnyPaymentsQuery({ cursor: _cursor, ...query }: Static<typeof ListQuery>): AnyPaymentsQuery {
  const { created_at_from, created_at_to, search, currency, refunded, disputed, attention, ...criteria } = query
  return {
    ...criteria,
    search: search?.trim() === '' ? undefined : search?.trim(),
    currency: currency?.toUpperCase(),
    created_after: timeBound('created_at_from', created_at_from, Math.floor),
    created_before: timeBound('created_at_to', created_at_to, Math.ceil),
    refunded: refunded ?? 'any',
    disputed: disputed ?? 'any',
    attention: attention ?? 'any',
  }
}
