// Finds a customer by e-mail address or id, and else by anything that finds a payment.
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { CustomerLink } from '../../parts/CustomerLink.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { SearchField } from '../../parts/filters/SearchField.tsx'
import { Money } from '../../parts/Money.tsx'
import { Page } from '../../parts/Page.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { Time } from '../../parts/Time.tsx'
import { paymentTitle } from '../payments/paymentColumns.tsx'
import { customersOf, type FoundCustomer } from './customer.ts'
import { paymentsFoundQuery } from './customerQueries.ts'

const route = getRouteApi('/customers')

export function CustomersPage() {
  const { search = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(paymentsFoundQuery(search))
  const found = customersOf(query.data ?? [])
  const [only] = found
  const isOnly = search !== '' && found.length === 1 && only !== undefined
  useEffect(() => {
    if (isOnly) void navigate({ to: '/customers/$id', params: { id: only.id }, replace: true })
  }, [isOnly, only, navigate])
  return (
    <Page title="Customers" lead={search === '' ? 'Who paid last' : `Who is found by “${search}”`}>
      <search className="filterBar" aria-label="Customers">
        <SearchField
          label="Search"
          placeholder="E-mail address, user id or payment"
          value={search === '' ? undefined : search}
          change={(text) => void navigate({ search: { search: text } })}
        />
      </search>
      <div className="panel">
        {search !== '' && query.data !== undefined && found.length === 0 ? (
          <Nothing search={search} />
        ) : (
          <QueryTable
            what="customers"
            query={query}
            rowsOf={customersOf}
            columns={columns}
            rowKey={({ id }) => id}
            rowLink={({ id }) => ({ to: '/customers/$id', params: { id } })}
            empty={{ title: 'No customers yet', hint: 'Whoever pays first appears here.' }}
          />
        )}
      </div>
    </Page>
  )
}

/** Somebody may have saved a method or an address, and paid nothing. */
function Nothing({ search }: { readonly search: string }) {
  return (
    <EmptyState title="No payment of such a customer">
      <p>
        E-mail addresses and ids are matched as a whole. Names of payers are sealed, so that they cannot be searched
        for, and nothing is found by the address of a person who was erased.
      </p>
      <p>
        <Link to="/customers/$id" params={{ id: search }}>
          Look for saved methods and addresses of {search}
        </Link>
      </p>
    </EmptyState>
  )
}

const columns: readonly Column<FoundCustomer>[] = [
  {
    header: 'Customer',
    narrow: 'title',
    cell: ({ userId, guestEmail }) => <CustomerLink userId={userId} guestEmail={guestEmail} isText />,
    note: ({ userId }) => (userId === null ? 'guest' : 'user'),
  },
  {
    header: 'Last payment',
    narrow: 'detail',
    cell: ({ last }) => <span className="clamped">{paymentTitle(last)}</span>,
  },
  {
    header: 'Amount',
    isNumber: true,
    narrow: 'figure',
    cell: ({ last }) => <Money cents={last.amount_cents} currency={last.currency} />,
  },
  { header: 'When', cell: ({ last }) => <Time value={last.created_at} /> },
]
