import { CloseButton, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Icon } from '../Icon.tsx'

/** A text that is searched for, with Enter and when the field is left. */
export function SearchField(props: {
  readonly label: string
  readonly placeholder: string
  readonly value: string | undefined
  readonly change: (text: string | undefined) => void
}) {
  const { label, placeholder, value = '', change } = props
  const [draft, setDraft] = useState(value)
  // The URL may change otherwise, for example with the back button.
  useEffect(() => setDraft(value), [value])
  const apply = (text: string) => text !== value && change(text === '' ? undefined : text)
  return (
    <TextInput
      size="xs"
      type="search"
      className="filterSearch"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Icon name="search" />}
      rightSection={draft !== '' && <CloseButton size="sm" aria-label="Clear" onClick={() => apply('')} />}
      value={draft}
      maxLength={255}
      onChange={({ currentTarget }) => setDraft(currentTarget.value)}
      onBlur={() => apply(draft.trim())}
      onKeyDown={({ key }) => key === 'Enter' && apply(draft.trim())}
    />
  )
}
