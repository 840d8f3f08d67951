// The saved payment methods of a customer.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/api.ts'
import type { PaymentMethod } from '../../api/apiTypes.ts'
import { Badge } from '../../parts/Badge.tsx'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { pageTotal } from '../../parts/ListTotal.tsx'
import { PageButtons } from '../../parts/PageButtons.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Dash, Time } from '../../parts/Time.tsx'
import type { Customer } from './customer.ts'

export function CustomerMethods({ customer }: { readonly customer: Customer }) {
  const [page, setPage] = useState(1)
  const query = useQuery({
    queryKey: ['payment-methods', customer, page],
    queryFn: ({ signal }) => bodyOf(api.listAnyPaymentMethods({ query: { ...customer, page }, signal })),
  })
  return (
    <Panel
      title="Payment methods"
      isFlush
      actions={<CsvButton operation="listAnyPaymentMethods" query={customer} meta={pageTotal(query.data)} />}
    >
      <QueryTable
        what="payment methods"
        query={query}
        rowsOf={({ data }) => data}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: 'No saved payment methods' }}
      />
      <PageButtons what="payment methods" page={page} hasMore={query.data?.meta.hasMore === true} show={setPage} />
    </Panel>
  )
}

const columns: readonly Column<PaymentMethod>[] = [
  {
    header: 'Method',
    narrow: 'title',
    cell: (method) => (
      <span className="badges">
        {method.alias ?? method.card_brand ?? method.wallet_type ?? method.payment_type ?? 'method'}
        {method.is_default && <Badge text="default" tone="good" />}
      </span>
    ),
    note: ({ alias, card_brand, provider_id }) => [alias && card_brand, provider_id].filter(Boolean).join(' · '),
  },
  {
    header: 'Number',
    isShort: true,
    narrow: 'figure',
    cell: ({ last_four }) => (last_four === null ? <Dash /> : `•••• ${last_four}`),
  },
  { header: 'Expires', isShort: true, narrow: 'detail', cell: expiry },
  { header: 'Added', narrow: 'detail', cell: ({ created_at }) => <Time value={created_at} /> },
]

function expiry({ expiry_month, expiry_year }: PaymentMethod) {
  return expiry_month === null || expiry_year === null ? (
    <Dash />
  ) : (
    `${String(expiry_month).padStart(2, '0')}/${expiry_year}`
  )
}
