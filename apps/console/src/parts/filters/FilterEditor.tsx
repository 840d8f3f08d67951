// What is set in the pop-up of a filter, by its kind. A choice applies at once, the others with a button or Enter.
import { Button, NativeSelect, TextInput, UnstyledButton } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { decimalOf, parseMoney } from '../../format/money.ts'
import {
  fieldsOf,
  intervalOf,
  type Period,
  type PeriodFields,
  periodOf,
  periodOfInterval,
  presetsAt,
} from '../../format/period.ts'
import { usePreferences } from '../../layout/Preferences.tsx'
import { Icon } from '../Icon.tsx'
import { currencyChoices } from './currencies.ts'
import type { Filter, FilterValues } from './filterTypes.ts'

type EditorProps<Kind extends Filter['kind']> = {
  readonly filter: Extract<Filter, { kind: Kind }>
  readonly values: FilterValues
  readonly apply: (changes: FilterValues) => void
}

export function FilterEditor<Name extends string>(props: {
  readonly filter: Filter<Name>
  readonly values: FilterValues<Name>
  readonly apply: (changes: FilterValues<Name>) => void
}) {
  const { filter, values } = props
  const apply = props.apply as (changes: FilterValues) => void
  switch (filter.kind) {
    case 'choice':
      return <ChoiceEditor filter={filter} values={values} apply={apply} />
    case 'text':
      return <TextEditor filter={filter} values={values} apply={apply} />
    case 'period': {
      const [from, to] = filter.names
      const period = { from: values[from], to: values[to] }
      return <PeriodEditor period={period} apply={(chosen) => apply({ [from]: chosen.from, [to]: chosen.to })} />
    }
    case 'interval': {
      const [name] = filter.names
      const period = periodOfInterval(values[name])
      return <PeriodEditor period={period} apply={(chosen) => apply({ [name]: intervalOf(chosen) })} />
    }
    case 'amount':
      return <AmountEditor filter={filter} values={values} apply={apply} />
  }
}

function ChoiceEditor({ filter: { label, names, choices }, values, apply }: EditorProps<'choice'>) {
  const [name] = names
  return (
    <ul className="optionList" aria-label={label}>
      {choices.map((choice) => (
        <li key={choice.value}>
          <UnstyledButton aria-pressed={values[name] === choice.value} onClick={() => apply({ [name]: choice.value })}>
            {choice.label}
            {values[name] === choice.value && <Icon name="chosen" />}
          </UnstyledButton>
        </li>
      ))}
    </ul>
  )
}

function EditorForm({ submit, children }: { readonly submit: () => void; readonly children: ReactNode }) {
  return (
    <form
      className="filterEditor"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {children}
      <Button size="xs" type="submit">
        Apply
      </Button>
    </form>
  )
}

function TextEditor({ filter, values, apply }: EditorProps<'text'>) {
  const { label, names, placeholder, hint, parse = (text: string) => text } = filter
  const [name] = names
  const [draft, setDraft] = useState(values[name] ?? '')
  return (
    <EditorForm submit={() => apply({ [name]: draft.trim() === '' ? undefined : parse(draft.trim()) })}>
      <TextInput
        size="xs"
        data-autofocus
        label={label}
        description={hint}
        placeholder={placeholder}
        value={draft}
        maxLength={255}
        onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      />
    </EditorForm>
  )
}

function PeriodEditor({ period, apply }: { readonly period: Period; readonly apply: (period: Period) => void }) {
  const { zone } = usePreferences()
  const [fields, setFields] = useState(() => fieldsOf(period, zone))
  const [now] = useState(Date.now)
  const field = (name: keyof PeriodFields, label: string, type: 'date' | 'time') => (
    <TextInput
      size="xs"
      type={type}
      label={label}
      value={fields[name]}
      onChange={({ currentTarget }) => setFields({ ...fields, [name]: currentTarget.value })}
    />
  )
  return (
    <div className="periodEditor">
      <ul className="optionList" aria-label="Periods">
        {presetsAt(now, zone).map((preset) => (
          <li key={preset.label}>
            <UnstyledButton onClick={() => apply(preset.period)}>{preset.label}</UnstyledButton>
          </li>
        ))}
      </ul>
      <EditorForm submit={() => apply(periodOf(fields, zone))}>
        <div className="dateTimeFields">
          {field('fromDay', 'From', 'date')}
          {field('fromTime', 'at', 'time')}
          {field('toDay', 'Until', 'date')}
          {field('toTime', 'before', 'time')}
        </div>
        <p className="hint">{zone === 'utc' ? 'In UTC.' : 'In your time zone.'} Without times, both days are whole.</p>
      </EditorForm>
    </div>
  )
}

/** Amounts of several currencies do not compare, so that a currency belongs to them. */
function AmountEditor({ filter: { names }, values, apply }: EditorProps<'amount'>) {
  const [fromName, toName, currencyName] = names
  const [currency, setCurrency] = useState(values[currencyName] ?? 'EUR')
  const shown = (minor: string | undefined) =>
    minor === undefined || !/^\d+$/.test(minor) ? '' : decimalOf(Number(minor), currency)
  const [from, setFrom] = useState(shown(values[fromName]))
  const [to, setTo] = useState(shown(values[toName]))
  const problemOf = (text: string) =>
    text.trim() === '' || parseMoney(text, currency) !== null ? undefined : `No amount in ${currency}`
  const minorOf = (text: string) => (text.trim() === '' ? undefined : String(parseMoney(text, currency)))
  const submit = () => {
    if (problemOf(from) !== undefined || problemOf(to) !== undefined) return
    const [fromMinor, toMinor] = [minorOf(from), minorOf(to)]
    const isSomething = fromMinor !== undefined || toMinor !== undefined
    apply({ [fromName]: fromMinor, [toName]: toMinor, ...(isSomething && { [currencyName]: currency }) })
  }
  return (
    <EditorForm submit={submit}>
      <NativeSelect
        size="xs"
        label="Currency"
        data={currencyChoices(currency)}
        value={currency}
        onChange={({ currentTarget }) => setCurrency(currentTarget.value)}
      />
      <TextInput
        size="xs"
        label="At least"
        inputMode="decimal"
        data-autofocus
        value={from}
        error={problemOf(from)}
        onChange={({ currentTarget }) => setFrom(currentTarget.value)}
      />
      <TextInput
        size="xs"
        label="At most"
        inputMode="decimal"
        value={to}
        error={problemOf(to)}
        onChange={({ currentTarget }) => setTo(currentTarget.value)}
      />
    </EditorForm>
  )
}
