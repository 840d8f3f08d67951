// What belongs to a user or a guest: payment methods and addresses.
import { Button, TextInput } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type SyntheticEvent, useEffect, useState } from 'react'
import { Page } from '../../parts/Page.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { OwnerAddresses } from './OwnerAddresses.tsx'
import { OwnerMethods } from './OwnerMethods.tsx'
import { type Owner, ownerOf, ownerText } from './ownerSearch.ts'

const route = getRouteApi('/owners')

export function OwnerPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const owner = ownerOf(search)
  return (
    <Page
      title={owner === null ? 'Customers' : ownerText(owner)}
      lead={owner === null ? 'Payment methods and addresses of a user or a guest' : <PaymentsOf owner={owner} />}
    >
      <OwnerForm owner={owner} show={(chosen) => void navigate({ search: chosen })} />
      {owner === null ? (
        <div className="panel">
          <EmptyState title="Whose?">
            Enter the id of a user or the e-mail of a guest. Payments link to their payer.
          </EmptyState>
        </div>
      ) : (
        <div className="panels">
          <OwnerMethods owner={owner} />
          <OwnerAddresses owner={owner} />
        </div>
      )}
    </Page>
  )
}

function PaymentsOf({ owner }: { readonly owner: Owner }) {
  return (
    <Link to="/payments" search={owner}>
      Payments
    </Link>
  )
}

/** An @ tells an e-mail from a user id. */
function OwnerForm({ owner, show }: { readonly owner: Owner | null; readonly show: (owner: Owner) => void }) {
  const current = owner === null ? '' : Object.values(owner).join('')
  const [text, setText] = useState(current)
  useEffect(() => setText(current), [current])
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    const value = text.trim()
    if (value !== '') show(value.includes('@') ? { guest_email: value } : { user_id: value })
  }
  return (
    <search aria-label="Customer" className="ownerSearch">
      <form className="row" onSubmit={submit}>
        <TextInput
          size="xs"
          label="User id or guest e-mail"
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
