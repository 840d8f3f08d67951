// Asks before a person is erased, and leads to the job.
import { useQueryClient } from '@tanstack/react-query'
import { ActionDialog } from '../../actions/ActionDialog.tsx'
import { useAction } from '../../actions/useAction.ts'
import { api, dataOf } from '../../api/api.ts'
import { JobLink } from '../../jobs/JobLink.tsx'
import { reasonHeader, useReason } from '../../parts/reason.tsx'
import { type Person, personBody } from './erasedPerson.ts'

export function EraseDialog({ person, close }: { readonly person: Person; readonly close: () => void }) {
  const client = useQueryClient()
  const { reason, reasonField } = useReason()
  const erase = useAction({
    name: `erase ${person.kind} ${person.value.trim()}`,
    effect: 'each time',
    send: (body: Person & { readonly reason: string }) =>
      dataOf(api.createErasure({ body: personBody(body), header: reasonHeader(body.reason) })),
    onResponse: () => void client.invalidateQueries(),
  })
  return (
    <ActionDialog
      title="Erase this person"
      action={erase}
      confirm="Erase for good"
      isDangerous
      fields={reasonField}
      success={erase.result && <JobLink job={erase.result}>The erasure has started.</JobLink>}
      close={close}
      submit={() => erase.submit({ ...person, reason })}
    >
      <p>
        All personal data of <strong>{person.value.trim()}</strong> is erased here, and their customers and saved
        methods at the providers are deleted. This cannot be undone.
      </p>
    </ActionDialog>
  )
}
