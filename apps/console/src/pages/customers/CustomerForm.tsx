import { Button, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type SyntheticEvent, useState } from 'react'

/** Opens the page of a customer. */
export function CustomerForm() {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    const id = text.trim()
    if (id !== '') void navigate({ to: '/customers/$id', params: { id } })
  }
  return (
    <search aria-label="Customer">
      <form className="row" onSubmit={submit}>
        <TextInput
          size="xs"
          w={320}
          aria-label="User id or guest e-mail"
          placeholder="User id or guest e-mail"
          value={text}
          maxLength={255}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Button size="xs" type="submit">
          Show
        </Button>
      </form>
    </search>
  )
}
