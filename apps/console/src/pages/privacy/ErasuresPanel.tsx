// Who was erased, and erasing a person: first what would go, then the erasure itself.
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ActionOutcome } from '../../actions/ActionOutcome.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, bodyOf, dataOf } from '../../api/api.ts'
import type { Erasure } from '../../api/apiTypes.ts'
import { pollMs } from '../../api/queryClient.ts'
import { FollowedJob } from '../../jobs/JobView.tsx'
import { CsvButton } from '../../parts/CsvButton.tsx'
import type { Column } from '../../parts/DataTable.tsx'
import { Identifier } from '../../parts/Identifier.tsx'
import { totalOf } from '../../parts/ListTotal.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { QueryTable } from '../../parts/QueryTable.tsx'
import { Time } from '../../parts/Time.tsx'
import { EraseDialog } from './EraseDialog.tsx'
import { type Person, personBody, personKinds } from './erasedPerson.ts'

export function ErasuresPanel() {
  const [person, setPerson] = useState<Person>({ kind: 'guest_email', value: '' })
  const [isErasing, setErasing] = useState(false)
  const preview = useAction({
    name: 'preview erasure',
    effect: 'none',
    send: (named: Person) => dataOf(api.createErasure({ body: { ...personBody(named), dry_run: true } })),
  })
  const isNamed = person.value.trim() !== ''
  return (
    <Panel title="Erase a person">
      <div className="stack">
        <p>
          Destroys the keys that the person’s data is sealed with, for good. Amounts, times, statuses and ids stay, and
          so does every proof.
        </p>
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault()
            preview.again(person)
          }}
        >
          <NativeSelect
            aria-label="Who"
            data={personKinds}
            value={person.kind}
            onChange={({ currentTarget }) => setPerson({ ...person, kind: currentTarget.value as Person['kind'] })}
          />
          <TextInput
            aria-label="E-mail or id"
            autoComplete="off"
            value={person.value}
            onChange={({ currentTarget }) => setPerson({ ...person, value: currentTarget.value })}
          />
          <Button type="submit" size="xs" variant="default" disabled={!isNamed} loading={preview.isRunning}>
            Show what would go
          </Button>
          <Button size="xs" color="red.9" disabled={!isNamed} onClick={() => setErasing(true)}>
            Erase…
          </Button>
        </form>
        <div className="stack" aria-live="polite">
          <ActionOutcome action={preview} success={null} />
          {preview.result && <FollowedJob id={preview.result.id} what="check" />}
        </div>
        <ErasuresTable />
      </div>
      {isErasing && <EraseDialog person={person} close={() => setErasing(false)} />}
    </Panel>
  )
}

function ErasuresTable() {
  const query = useQuery({
    queryKey: ['erasures'],
    queryFn: ({ signal }) => bodyOf(api.listErasures({ signal })),
    // An erasure is recorded some time after it was requested.
    refetchInterval: pollMs,
  })
  return (
    <div className="stack">
      <div className="row">
        <CsvButton operation="listErasures" meta={totalOf(query.data)} />
      </div>
      <QueryTable
        what="erasures"
        query={query}
        rowsOf={({ data }) => data}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: 'Nothing was erased' }}
      />
    </div>
  )
}

const kinds: Readonly<Record<Erasure['kind'], string>> = {
  person: 'a person',
  body: 'what providers sent',
  secret: 'client secrets',
}

const columns: readonly Column<Erasure>[] = [
  { header: 'Erased', cell: ({ occurred_at }) => <Time value={occurred_at} /> },
  { header: 'What', cell: ({ kind }) => kinds[kind] },
  { header: 'Keys', isShort: true, cell: ({ keys }) => keys.toLocaleString() },
  { header: 'By', cell: ({ actor }) => actor },
  { header: 'Erasure', cell: ({ id }) => <Identifier value={id} name="erasure" /> },
]
