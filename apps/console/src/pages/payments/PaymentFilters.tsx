// The filters of the list of payments.
import { Button } from '@mantine/core'
import { useState } from 'react'
import { decimalOf, parseMoney } from '../../format/money.ts'
import {
  ChoiceFilter,
  ClearFilters,
  choicesOf,
  FlagFilter,
  OrderFilter,
  TextFilter,
  TimeFilter,
} from '../../parts/filters.tsx'
import { type PaymentsSearch, statuses } from './paymentsSearch.ts'

type Props = { readonly search: PaymentsSearch; readonly change: (changes: PaymentsSearch) => void }

const orders = [
  { value: 'created_at asc', label: 'Oldest first' },
  { value: 'updated_at desc', label: 'Last updated first' },
  { value: 'amount_cents desc', label: 'Highest amount first' },
  { value: 'amount_cents asc', label: 'Lowest amount first' },
]
const moreNames = [
  'user_id',
  'guest_email',
  'reference_code',
  'created_at_from',
  'created_at_to',
  'amount_from',
  'amount_to',
  'refunded',
  'disputed',
] as const
const allNames = [...moreNames, 'search', 'status', 'provider_id', 'currency', 'attention'] as const

export function PaymentFilters({ search, change }: Props) {
  const hasMore = moreNames.some((name) => search[name] !== undefined)
  const [isOpen, setOpen] = useState(hasMore)
  return (
    <search className="filterPanel" aria-label="Filters">
      <PrimaryFilters search={search} change={change} />
      {isOpen && <MoreFilters search={search} change={change} />}
      <div className="row">
        <Button size="compact-xs" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer filters' : 'More filters'}
        </Button>
        <ClearFilters names={allNames} search={search} change={change} />
      </div>
    </search>
  )
}

function PrimaryFilters({ search, change }: Props) {
  return (
    <div className="filters">
      <TextFilter
        isWide
        label="Search"
        placeholder="Id, e-mail, reference, or words"
        value={search.search}
        change={(text) => change({ search: text })}
      />
      <ChoiceFilter
        label="Status"
        any="Any"
        choices={choicesOf(statuses)}
        value={search.status}
        change={(status) => change({ status })}
      />
      <TextFilter label="Provider" value={search.provider_id} change={(provider_id) => change({ provider_id })} />
      <TextFilter
        label="Currency"
        placeholder="EUR"
        value={search.currency}
        change={(code) => change({ currency: code?.toUpperCase() })}
      />
      <FlagFilter label="Needs attention" value={search.attention} change={(attention) => change({ attention })} />
      <OrderFilter choices={orders} search={search} change={change} />
    </div>
  )
}

function MoreFilters({ search, change }: Props) {
  return (
    <div className="filters">
      <TimeFilter
        label="Created from"
        value={search.created_at_from}
        change={(time) => change({ created_at_from: time })}
      />
      <TimeFilter
        label="Created until"
        value={search.created_at_to}
        change={(time) => change({ created_at_to: time })}
      />
      <AmountFilter label="Amount from" name="amount_from" search={search} change={change} />
      <AmountFilter label="Amount until" name="amount_to" search={search} change={change} />
      <TextFilter label="Guest e-mail" value={search.guest_email} change={(guest_email) => change({ guest_email })} />
      <TextFilter label="User id" value={search.user_id} change={(user_id) => change({ user_id })} />
      <TextFilter
        label="Reference"
        value={search.reference_code}
        change={(reference_code) => change({ reference_code })}
      />
      <FlagFilter label="Refunded" value={search.refunded} change={(refunded) => change({ refunded })} />
      <FlagFilter label="Disputed" value={search.disputed} change={(disputed) => change({ disputed })} />
    </div>
  )
}

/** With a currency in major units; without one, the list has several, and only minor units mean the same in all of them. */
function AmountFilter(props: Props & { readonly label: string; readonly name: 'amount_from' | 'amount_to' }) {
  const { label, name, search, change } = props
  const { currency } = search
  const minor = search[name]
  const shown = minor === undefined || currency === undefined ? minor : decimalOf(Number(minor), currency)
  const minorOf = (text: string) => (currency === undefined ? text : String(parseMoney(text, currency) ?? ''))
  return (
    <TextFilter
      label={`${label} (${currency ?? 'minor units'})`}
      value={shown}
      change={(text) => change({ [name]: text === undefined ? undefined : minorOf(text) })}
    />
  )
}
