// Fields that filter a list. A text applies with Enter and when the field is left, a choice at once.
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { fromTimeField, toTimeField } from '../format/time.ts'
import { usePreferences } from '../layout/Preferences.tsx'

type FilterProps = {
  readonly label: string
  readonly value: string | undefined
  /** Undefined ends the filter. */
  readonly change: (value: string | undefined) => void
}

export function TextFilter(props: FilterProps & { readonly placeholder?: string; readonly isWide?: boolean }) {
  const { label, value = '', change, placeholder, isWide } = props
  const [draft, setDraft] = useState(value)
  // The URL may change otherwise, for example with the back button.
  useEffect(() => setDraft(value), [value])
  const apply = () => draft.trim() !== value && change(draft.trim() === '' ? undefined : draft.trim())
  return (
    <TextInput
      size="xs"
      className={isWide ? 'wide' : undefined}
      label={label}
      placeholder={placeholder}
      value={draft}
      maxLength={255}
      onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  )
}

export type Choice = { readonly value: string; readonly label: string }

/** @param props `any` is the label of no filter */
export function ChoiceFilter(props: FilterProps & { readonly choices: readonly Choice[]; readonly any: string }) {
  const { label, value = '', change, choices, any } = props
  return (
    <NativeSelect
      size="xs"
      label={label}
      data={[{ value: '', label: any }, ...choices]}
      value={value}
      onChange={({ currentTarget }) => change(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  )
}

const yesOrNo: readonly Choice[] = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
]

export function FlagFilter(props: FilterProps) {
  return <ChoiceFilter {...props} choices={yesOrNo} any="Any" />
}

/** A time in the zone that the reader chose; the filter holds it in UTC. */
export function TimeFilter({ label, value, change }: FilterProps) {
  const { zone } = usePreferences()
  const shown = value === undefined ? '' : toTimeField(value, zone).slice(0, 16)
  const [draft, setDraft] = useState(shown)
  useEffect(() => setDraft(shown), [shown])
  const apply = () => draft !== shown && change(draft === '' ? undefined : (fromTimeField(draft, zone) ?? undefined))
  return (
    <TextInput
      size="xs"
      type="datetime-local"
      label={`${label} (${zone === 'utc' ? 'UTC' : 'local'})`}
      value={draft}
      onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  )
}

type Order = { readonly orderBy?: string | undefined; readonly orderDir?: string | undefined }

/** The order of a list, newest first by default. @param props the value of a choice is field and direction: `name asc` */
export function OrderFilter(props: {
  readonly choices: readonly Choice[]
  readonly search: Order
  readonly change: (order: Order) => void
}) {
  const { choices, search, change } = props
  return (
    <ChoiceFilter
      label="Order"
      any="Newest first"
      choices={choices}
      value={search.orderBy === undefined ? undefined : `${search.orderBy} ${search.orderDir ?? 'desc'}`}
      change={(chosen) => change({ orderBy: chosen?.split(' ')[0], orderDir: chosen?.split(' ')[1] })}
    />
  )
}

/** Ends all filters with these names; nothing when none is set. */
export function ClearFilters<const Name extends string>(props: {
  readonly names: readonly Name[]
  readonly search: { readonly [Key in Name]?: string | undefined }
  readonly change: (changes: { [Key in Name]?: undefined }) => void
}) {
  const { names, search, change } = props
  if (names.every((name) => search[name] === undefined)) return null
  const cleared: { [Key in Name]?: undefined } = {}
  for (const name of names) cleared[name] = undefined
  return (
    <Button size="compact-xs" variant="subtle" onClick={() => change(cleared)}>
      Clear filters
    </Button>
  )
}

export const choicesOf = (words: readonly string[]): Choice[] =>
  words.map((word) => ({ value: word, label: (word.charAt(0).toUpperCase() + word.slice(1)).replaceAll('_', ' ') }))
