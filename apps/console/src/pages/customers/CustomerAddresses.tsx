// The addresses of a customer.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/api.ts'
import type { Address } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { pageTotal } from '../../parts/ListTotal.tsx'
import { PageButtons } from '../../parts/PageButtons.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import type { Customer } from './customer.ts'

export function CustomerAddresses({ customer }: { readonly customer: Customer }) {
  const [page, setPage] = useState(1)
  const query = useQuery({
    queryKey: ['addresses', customer, page],
    queryFn: ({ signal }) => bodyOf(api.listAnyAddresses({ query: { ...customer, page }, signal })),
  })
  return (
    <Panel
      title="Addresses"
      isFlush
      actions={<CsvButton operation="listAnyAddresses" query={customer} meta={pageTotal(query.data)} />}
    >
      <QueryTable
        what="addresses"
        query={query}
        rowsOf={({ data }) => data}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: 'No addresses' }}
      />
      <PageButtons what="addresses" page={page} hasMore={query.data?.meta.hasMore === true} show={setPage} />
    </Panel>
  )
}

const joinedBy = (separator: string, ...texts: readonly (string | null)[]) => texts.filter(Boolean).join(separator)
const joined = (...texts: readonly (string | null)[]) => joinedBy(', ', ...texts)

const columns: readonly Column<Address>[] = [
  {
    header: 'Address',
    narrow: 'title',
    cell: ({ name, business_name, line1, line2, postal_code, city, state, country }) =>
      joined(name, business_name, line1, line2, joinedBy(' ', postal_code, city), state, country) || <Dash />,
    note: ({ phone, email, tax_id }) => joinedBy(' · ', phone, email, tax_id && `tax id ${tax_id}`),
  },
  {
    header: 'Type',
    isShort: true,
    narrow: 'detail',
    cell: ({ address_type, is_default }) => (
      <span className="badges">
        {address_type}
        {is_default && <Badge text="default" tone="good" />}
      </span>
    ),
  },
  { header: 'Added', narrow: 'detail', cell: ({ created_at }) => <Time value={created_at} /> },
]
