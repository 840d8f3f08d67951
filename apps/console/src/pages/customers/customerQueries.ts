// What is known about one customer.
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, dataOf } from '../../api/api.ts'
import type { ListedPayment } from '../../api/apiTypes.ts'
import { pollMs } from '../../api/queryClient.ts'
import type { Customer } from './customer.ts'

const pageSize = 100
const maxPages = 10

export type CustomerPayments = {
  /** The newest first. */
  readonly payments: readonly ListedPayment[]
  /** Whether there are no others. */
  readonly isWhole: boolean
}

export const customerPaymentsQuery = (customer: Customer) =>
  queryOptions({
    queryKey: ['payments', 'of', customer],
    queryFn: async ({ signal }): Promise<CustomerPayments> => {
      const payments: ListedPayment[] = []
      let cursor: string | null | undefined
      for (let page = 0; cursor !== null && page < maxPages; page += 1) {
        const query = { ...customer, limit: pageSize, ...(cursor && { cursor }) }
        const body = await bodyOf(api.listAnyPayments({ query, signal }))
        payments.push(...body.data)
        cursor = body.meta.next_cursor
      }
      return { payments, isWhole: cursor === null }
    },
    refetchInterval: pollMs,
  })

export const customerRefundsQuery = (customer: Customer) =>
  queryOptions({
    queryKey: ['refunds', 'of', customer],
    queryFn: ({ signal }) => bodyOf(api.listAnyRefunds({ query: { ...customer, limit: pageSize }, signal })),
  })

export const customerDisputesQuery = (customer: Customer) =>
  queryOptions({
    queryKey: ['disputes', 'of', customer],
    queryFn: ({ signal }) => bodyOf(api.listDisputes({ query: { ...customer, limit: pageSize }, signal })),
  })

/** The newest payments in which an e-mail address, an id or other words are found; the newest of all for an empty text. */
export const paymentsFoundQuery = (search: string) =>
  queryOptions({
    queryKey: ['payments', 'found', search],
    queryFn: ({ signal }) =>
      dataOf(api.listAnyPayments({ query: { limit: pageSize, ...(search !== '' && { search }) }, signal })),
  })
