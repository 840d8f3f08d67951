// The addresses of a customer.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/api.ts'
import type { Address } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
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

const joined = (...texts: readonly (string | null)[]) => texts.filter((text) => text !== null && text !== '').join(', ')

const columns: readonly Column<Address>[] = [
  {
    header: 'Type',
    cell: ({ address_type, is_default }) => (
      <span className="badges">
        {address_type}
        {is_default && <Badge text="default" tone="good" />}
      </span>
    ),
  },
  { header: 'Name', cell: ({ name, business_name }) => joined(name, business_name) || <Dash /> },
  {
    header: 'Address',
    cell: ({ line1, line2, postal_code, city, state, country }) =>
      joined(line1, line2, [postal_code, city].filter(Boolean).join(' '), state, country) || <Dash />,
  },
  { header: 'Contact', cell: ({ phone, email }) => joined(phone, email) || <Dash /> },
  { header: 'Tax id', cell: ({ tax_id }) => tax_id ?? <Dash /> },
  { header: 'Added', cell: ({ created_at }) => <Time value={created_at} /> },
  { header: 'Id', cell: ({ id }) => <Identifier value={id} name="the id of the address" /> },
]
