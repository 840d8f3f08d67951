// Asks for a new session without leaving the page: what is open, filled in or scrolled to stays.
import { Modal } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { queryClient } from '../api/queryClient.ts'
import { SessionForm } from './SignInPage.tsx'

const aboveOtherDialogs = 1_000

export function ExpiredDialog({ opened, hasCookie }: { readonly opened: boolean; readonly hasCookie: boolean }) {
  const wasOpen = useRef(false)
  useEffect(() => {
    // What failed meanwhile is read again with the new session.
    if (wasOpen.current && !opened)
      void queryClient.invalidateQueries({ predicate: ({ state }) => state.status === 'error' })
    wasOpen.current = opened
  }, [opened])
  return (
    <Modal
      opened={opened}
      onClose={() => undefined}
      title="Your session has expired"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={aboveOtherDialogs}
    >
      <div className="stack">
        <p>Sign in again to continue where you are. Nothing on this page is lost.</p>
        <SessionForm hasCookie={hasCookie} />
      </div>
    </Modal>
  )
}
