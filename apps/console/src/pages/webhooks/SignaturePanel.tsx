// What the signature of each attempt was, for a secret that the operator knows.
import { PasswordInput } from '@mantine/core'
import { useState } from 'react'
import type { DeliveryDetails } from '../../api/apiTypes.ts'
import { type Column, DataTable } from '../../parts/DataTable.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Time } from '../../parts/Time.tsx'
import { signedHeaders, signingKey } from './signature.ts'

type Signed = { readonly at: string; readonly headers: ReturnType<typeof signedHeaders> }

export function SignaturePanel({ delivery }: { readonly delivery: DeliveryDetails }) {
  // Kept in this component only: it is gone when the page is left.
  const [secret, setSecret] = useState('')
  const key = signingKey(secret.trim())
  const { payload, id, tries } = delivery
  if (payload === null) return null
  return (
    <Panel title="Signature">
      <div className="stack">
        <p>
          Every attempt is signed anew, with its own time and the secret of the endpoint, which only the worker has. To
          compare with what a receiver logged, enter the secret: the signatures are computed in this page, and the
          secret does not leave it.
        </p>
        <PasswordInput
          label="Secret of the endpoint"
          placeholder="whsec_…"
          value={secret}
          onChange={({ currentTarget }) => setSecret(currentTarget.value)}
          error={secret.trim() !== '' && key === undefined ? 'A secret is base64 of 24 to 64 bytes' : undefined}
          autoComplete="off"
          spellCheck={false}
          maw={480}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the secret' }}
        />
        {key && tries.length === 0 && <p className="hint">There was no attempt yet.</p>}
        {key && tries.length > 0 && (
          <DataTable
            caption="Signatures"
            columns={columns}
            rows={tries.map(({ at }) => ({ at, headers: signedHeaders(key, { id, at, body: payload }) }))}
            rowKey={({ at }) => at}
          />
        )}
      </div>
    </Panel>
  )
}

const columns: readonly Column<Signed>[] = [
  { header: 'Attempt', cell: ({ at }) => <Time value={at} /> },
  { header: 'webhook-timestamp', isNumber: true, cell: ({ headers }) => headers['webhook-timestamp'] },
  {
    header: 'webhook-signature',
    cell: ({ headers }) => <Identifier name="webhook-signature" value={headers['webhook-signature']} />,
  },
]
