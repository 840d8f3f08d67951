// Fields of which each applies by itself: a text with Enter and when the field is left, a choice at once.
import { NativeSelect, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { fromTimeField, toTimeField } from '../format/time.ts'
import { usePreferences } from '../layout/Preferences.tsx'

type FieldProps = {
  readonly label: string
  readonly value: string | undefined
  /** Undefined when it is empty. */
  readonly change: (value: string | undefined) => void
}

export function TextField(props: FieldProps & { readonly placeholder?: string }) {
  const { label, value = '', change, placeholder } = props
  const [draft, setDraft] = useState(value)
  // The URL may change otherwise, for example with the back button.
  useEffect(() => setDraft(value), [value])
  const apply = () => draft.trim() !== value && change(draft.trim() === '' ? undefined : draft.trim())
  return (
    <TextInput
      size="xs"
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

/** @param props `any` is the label of no choice */
export function ChoiceField(props: FieldProps & { readonly choices: readonly Choice[]; readonly any: string }) {
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

/** A time in the zone that the reader chose; the value is in UTC. */
export function TimeField({ label, value, change }: FieldProps) {
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

/** Choices with these words of the API as their values. */
export const choicesOf = (words: readonly string[]): Choice[] =>
  words.map((word) => ({ value: word, label: (word.charAt(0).toUpperCase() + word.slice(1)).replaceAll('_', ' ') }))
