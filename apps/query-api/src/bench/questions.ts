// What is asked: a URL of the API, about a row or an owner drawn at random.
import { idOf, ownerOfRow, type Spread, type Thing } from './owners.ts'

export type Question = {
  readonly name: string
  /** What the id in the path is of. */
  readonly thing?: Thing
  /** Always this owner, instead of the one whose row was drawn. */
  readonly owner?: number
  readonly path: (id: string) => string
}

export function questions({ withThousand, withTenThousand }: Spread): readonly Question[] {
  return [
    { name: 'GET /payments', path: () => '/payments' },
    { name: 'GET /payments, 50 of a page', path: () => '/payments?limit=50' },
    { name: 'GET /payments include=payment_method', path: () => '/payments?include=payment_method' },
    { name: 'GET /payments status', path: () => '/payments?status=succeeded' },
    { name: 'GET /payments search', path: () => '/payments?search=Order%2012' },
    { name: 'GET /payments orderBy=amount_cents', path: () => '/payments?orderBy=amount_cents' },
    { name: 'GET /payments, last page', path: () => '/payments?page=3' },
    { name: 'GET /payments, 1,000 rows, last page', owner: withThousand, path: () => '/payments?page=50' },
    { name: 'GET /payments, 10,000 rows', owner: withTenThousand, path: () => '/payments' },
    { name: 'GET /payments, 10,000 rows, last page', owner: withTenThousand, path: () => '/payments?page=500' },
    { name: 'GET /payments/{id}', thing: 'payment', path: (id) => `/payments/${id}` },
    { name: 'GET /payment-methods', path: () => '/payment-methods' },
    { name: 'GET /payment-methods/{id}', thing: 'method', path: (id) => `/payment-methods/${id}` },
    { name: 'GET /addresses', path: () => '/addresses' },
    { name: 'GET /addresses, by type', path: () => '/addresses?address_type=billing' },
    { name: 'GET /addresses/{id}', thing: 'address', path: (id) => `/addresses/${id}` },
  ]
}

/** The question about one row: who asks, and the URL. */
export function askedAbout(row: number, { owner, thing, path }: Question, spread: Spread) {
  return { owner: owner ?? ownerOfRow(row, spread), path: path(thing === undefined ? '' : idOf(thing, row)) }
}
