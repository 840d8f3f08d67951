// Erasing a person: first a check of what would go, then the erasure itself.
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ActionOutcome } from '../../actions/ActionOutcome.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { Job } from '../../api/apiTypes.ts'
import { hasSomethingToErase } from '../../jobs/JobResult.tsx'
import { FollowedJob } from '../../jobs/JobView.tsx'
import { jobQuery } from '../../jobs/jobQueries.ts'
import { Panel } from '../../parts/Panel.tsx'
import { EraseDialog } from './EraseDialog.tsx'
import { isSamePerson, type Person, personBody, personKinds } from './person.ts'

export function ErasePanel({ linked }: { readonly linked: Person }) {
  const [person, setPerson] = useState(linked)
  const [checked, setChecked] = useState<Person>()
  const [isErasing, setErasing] = useState(false)
  const [erasure, setErasure] = useState<Job>()
  const check = useAction({
    name: 'check erasure',
    effect: 'none',
    send: (named: Person) => dataOf(api.createErasure({ body: { ...personBody(named), dry_run: true } })),
  })
  const isChecked = isSamePerson(person, checked) && check.result !== undefined
  const { data: job } = useQuery({ ...jobQuery(check.result?.id ?? ''), enabled: check.result !== undefined })
  const hasFound = isChecked && job?.status === 'succeeded' && hasSomethingToErase(job.result ?? {})
  return (
    <Panel title="Erase a person">
      <div className="stack">
        <p>
          The keys that the person’s data is sealed with are destroyed, in the log, its backups and every export.
          Amounts, times, statuses and ids stay, and every proof stays valid. It begins with a check, which changes
          nothing.
        </p>
        <PersonForm
          person={person}
          change={(changed) => {
            setPerson(changed)
            setErasure(undefined)
          }}
          isRunning={check.isRunning}
          check={() => {
            setErasure(undefined)
            setChecked(person)
            check.again(person)
          }}
        />
        <div className="stack" aria-live="polite">
          <ActionOutcome action={check} success={null} />
          {erasure !== undefined && <FollowedJob id={erasure.id} />}
          {erasure === undefined && isChecked && check.result && <FollowedJob id={check.result.id} />}
        </div>
        {erasure === undefined && hasFound && (
          <div>
            <Button color="red.9" onClick={() => setErasing(true)}>
              Erase this person…
            </Button>
          </div>
        )}
      </div>
      {isErasing && <EraseDialog person={person} started={setErasure} close={() => setErasing(false)} />}
    </Panel>
  )
}

function PersonForm(props: {
  readonly person: Person
  readonly change: (person: Person) => void
  readonly isRunning: boolean
  readonly check: () => void
}) {
  const { person, change, isRunning, check } = props
  const kind = personKinds.find(({ value }) => value === person.kind)
  return (
    <form
      className="personForm"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isRunning) check()
      }}
    >
      <NativeSelect
        label="Who"
        data={personKinds.map(({ value, label }) => ({ value, label }))}
        value={person.kind}
        onChange={({ currentTarget }) => change({ ...person, kind: currentTarget.value as Person['kind'] })}
      />
      <TextInput
        label={kind?.label}
        description={kind?.hint}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        autoComplete="off"
        spellCheck={false}
        value={person.value}
        onChange={({ currentTarget }) => change({ ...person, value: currentTarget.value })}
      />
      <Button type="submit" disabled={person.value.trim() === ''} loading={isRunning}>
        Check what would go
      </Button>
    </form>
  )
}
