// Which days a report has: a month, or any days, of a time zone.
import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core'
import { type SubmitEvent, useState } from 'react'
import {
  type Days,
  dayIn,
  daysOfMonth,
  isMonth,
  lastDayOf,
  monthAfter,
  monthOf,
  monthText,
  readDays,
  recentMonths,
} from '../../format/days.ts'
import { dayAfter } from '../../format/period.ts'
import { timeZoneOf } from '../../format/time.ts'
import { Icon } from '../../parts/Icon.tsx'

type Props = {
  readonly days: Days
  readonly timeZone: string
  readonly change: (period: { readonly from?: string; readonly to?: string; readonly time_zone?: string }) => void
}

export function ReportPeriod({ days, timeZone, change }: Props) {
  return (
    <search className="filterBar reportPeriod" aria-label="Period of the report">
      <MonthChoice days={days} timeZone={timeZone} change={change} />
      {/* A new form for other days, so that its fields show them. */}
      <DaysForm key={`${days.from} ${days.to}`} days={days} change={change} />
      <NativeSelect
        size="xs"
        label="Time zone"
        data={zones(timeZone)}
        value={timeZone}
        onChange={({ currentTarget }) => change({ time_zone: currentTarget.value })}
      />
    </search>
  )
}

function MonthChoice({ days, timeZone, change }: Props) {
  const month = monthOf(days)
  const shown = month ?? days.from.slice(0, 7)
  const recent = recentMonths(dayIn(timeZone, Date.now()))
  const isListed = month === undefined || recent.some(({ value }) => value === month)
  const show = (chosen: string) => change(daysOfMonth(chosen))
  return (
    <div className="row">
      <ActionIcon
        variant="default"
        size={30}
        aria-label={`Month before: ${monthText(monthAfter(shown, -1))}`}
        onClick={() => show(monthAfter(shown, -1))}
      >
        <Icon name="before" />
      </ActionIcon>
      <NativeSelect
        size="xs"
        label="Month"
        data={[
          ...(month === undefined ? [{ value: '', label: 'Other days' }] : []),
          ...(isListed ? [] : [{ value: shown, label: monthText(shown) }]),
          ...recent.map(({ value, label }) => ({ value, label })),
        ]}
        value={month ?? ''}
        onChange={({ currentTarget: { value } }) => isMonth(value) && show(value)}
      />
      <ActionIcon
        variant="default"
        size={30}
        aria-label={`Month after: ${monthText(monthAfter(shown, 1))}`}
        onClick={() => show(monthAfter(shown, 1))}
      >
        <Icon name="after" />
      </ActionIcon>
    </div>
  )
}

function DaysForm({ days, change }: Pick<Props, 'days' | 'change'>) {
  const [from, setFrom] = useState(days.from)
  const [last, setLast] = useState(lastDayOf(days))
  const chosen = last === '' ? undefined : readDays(from, dayAfter(last, 1))
  const isChanged = chosen?.from !== days.from || chosen.to !== days.to
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    if (chosen) change(chosen)
  }
  return (
    <form className="row" onSubmit={submit}>
      <TextInput
        size="xs"
        type="date"
        label="From"
        value={from}
        onChange={({ currentTarget: { value } }) => setFrom(value)}
      />
      <TextInput
        size="xs"
        type="date"
        label="Until, included"
        value={last}
        onChange={({ currentTarget: { value } }) => setLast(value)}
      />
      {isChanged && (
        <Button size="xs" type="submit" disabled={chosen === undefined}>
          Show these days
        </Button>
      )}
    </form>
  )
}

/** The reader's zone and UTC first. */
function zones(chosen: string): readonly string[] {
  return [...new Set([timeZoneOf('local'), 'UTC', chosen, ...Intl.supportedValuesOf('timeZone')])]
}
