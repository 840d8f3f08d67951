// What a proof proves, and what it does not, in plain words.
import { VerificationError } from '@paylog/client/errors'
import { type ProvenPayment, verifyPaymentProof } from '@paylog/client/verifyProof'
import { useQuery } from '@tanstack/react-query'
import { type Column, DataTable } from '../../../parts/DataTable.tsx'
import { Notice } from '../../../parts/Notice.tsx'
import { ErrorState } from '../../../parts/states.tsx'
import { Time } from '../../../parts/Time.tsx'
import { titleOf } from '../eventText.ts'
import type { ProofFile } from './fetchProof.ts'

/** @param props `lastRevision` of the events that the page shows */
export function Verdict(props: {
  readonly file: ProofFile
  readonly keys: readonly string[]
  readonly lastRevision: number
}) {
  const { file, keys, lastRevision } = props
  const { data, error } = useQuery({
    queryKey: ['proof', file.text, keys],
    queryFn: () => verifyPaymentProof(file.text, keys),
    enabled: keys.length > 0,
    retry: false,
    gcTime: 0,
  })
  if (keys.length === 0)
    return (
      <Notice tone="warn" title="Not checked yet">
        Enter the verifier key to check it here. Elsewhere, <CheckCommand file={file} /> does the same.
      </Notice>
    )
  if (error !== null) return <Failure error={error} file={file} />
  return data === undefined ? null : <Proven proven={data} lastRevision={lastRevision} />
}

const CheckCommand = ({ file }: { readonly file: ProofFile }) => (
  <code className="wrap">ops audit check-proof {file.name} --key KEY</code>
)

function Failure({ error, file }: { readonly error: unknown; readonly file: ProofFile }) {
  if (!(error instanceof VerificationError)) return <ErrorState error={error} />
  switch (error.of) {
    case 'key':
      return (
        <Notice tone="warn" title="This key cannot be used">
          {error.message}.
        </Notice>
      )
    case 'platform':
      return (
        <Notice tone="warn" title="This browser cannot check signatures here">
          {error.message}. The file is complete: check it with <CheckCommand file={file} />.
        </Notice>
      )
  }
  return (
    <Notice tone="bad" role="alert" title="The proof does not hold">
      <p className="wrap">{error.message}.</p>
      <p>
        Either the key is that of another log, or the log was changed. <code>ops audit verify</code> compares the whole
        log, and says where.
      </p>
    </Notice>
  )
}

type ProvenEvent = ProvenPayment['events'][number]

function Proven({ proven, lastRevision }: { readonly proven: ProvenPayment; readonly lastRevision: number }) {
  const { checkpoint, events } = proven
  const count = events.length === 1 ? '1 event' : `${events.length} events`
  const isWhole = events.length > lastRevision
  return (
    <>
      <Notice tone="good" role="status" title={`Proven: the log has these ${count}, unchanged`}>
        <p className="wrap">
          {checkpoint.origin} signed its first {checkpoint.size.toLocaleString()} events. Among them are{' '}
          {isWhole ? 'all events that this page shows' : 'these events of this payment'}, with exactly these contents
          and in this order: nobody has changed, removed or inserted one.
        </p>
      </Notice>
      <div>
        <h3>What it does not prove</h3>
        <ul className="bulletList">
          <li>That what was recorded is true: only that it was recorded, and is unchanged.</li>
          <li>That nothing came later: newer events come under the next signature.</li>
          <li>Anything against the holder of the signing key, unless somebody else keeps signed checkpoints.</li>
        </ul>
      </div>
      <details>
        <summary>The proven events</summary>
        <DataTable caption="Proven events" columns={columns} rows={events} rowKey={({ id }) => id} />
      </details>
    </>
  )
}

const columns: readonly Column<ProvenEvent>[] = [
  { header: 'Event', narrow: 'title', cell: ({ type }) => titleOf(type) },
  { header: 'Occurred', narrow: 'detail', cell: (event) => <Time value={occurredAt(event)} /> },
  { header: 'Leaf of the tree', isNumber: true, narrow: 'figure', cell: ({ index }) => index.toLocaleString() },
]

/** As the event says. */
function occurredAt({ data = '' }: ProvenEvent): string | null {
  try {
    const { occurred_at }: { readonly occurred_at?: unknown } = JSON.parse(data)
    return typeof occurred_at === 'string' ? occurred_at : null
  } catch {
    return null
  }
}
