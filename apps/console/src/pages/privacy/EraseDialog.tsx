// Erases a person, once somebody has typed who it is.
import { TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import type { Job } from '../../api/apiTypes.ts'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { type Person, personBody } from './person.ts'

/** @param props `started` gets the job */
export function EraseDialog(props: {
  readonly person: Person
  readonly started: (job: Job) => void
  readonly close: () => void
}) {
  const { person, started, close } = props
  const client = useQueryClient()
  const { reason, reasonField } = useReason()
  const [typed, setTyped] = useState('')
  const [isWrong, setWrong] = useState(false)
  const name = person.value.trim()
  const erase = useAction({
    name: `erase ${person.kind} ${name}`,
    effect: 'each time',
    send: async (body: Person & { readonly reason: string }) => {
      const job = await dataOf(api.createErasure({ body: personBody(body), header: reasonHeader(body.reason) }))
      started(job)
      return job
    },
    onResponse: () => void client.invalidateQueries(),
  })
  const isRight = typed.trim() === name
  return (
    <ActionDialog
      title="Erase this person for good"
      action={erase}
      confirm="Erase for good"
      isDangerous
      fields={
        <>
          <TextInput
            label={`To confirm, type ${name}`}
            data-autofocus
            autoComplete="off"
            spellCheck={false}
            error={isWrong && !isRight && 'This is not the same'}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          {reasonField}
        </>
      }
      success={erase.result && 'The erasure has started. The page shows how far it is.'}
      close={close}
      submit={() => {
        setWrong(!isRight)
        if (isRight) erase.submit({ ...person, reason })
      }}
    >
      <p>
        All personal data of <strong className="wrap">{name}</strong> is erased here, and their customers and saved
        methods at the providers are deleted. Nobody can undo this.
      </p>
    </ActionDialog>
  )
}
