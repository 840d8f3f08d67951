// Asks before a link replaces the session that is signed in: whoever made the link may want others to work in a session that
// is not theirs.
import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isUnauthenticated } from '../api/apiErrors.ts'
import { configQuery, identityQuery } from './identity.ts'
import { refuseOffer, signIn, useSession } from './session.ts'

const aboveOtherDialogs = 1_001

/** Signs in with the session of the link at once where nobody is signed in. */
export function OfferedSession() {
  const { sessionId, offered } = useSession()
  const { data: config } = useQuery(configQuery)
  const hasSession = sessionId !== null || config?.session_cookie === true
  const { data: identity, error } = useQuery({ ...identityQuery(sessionId), enabled: hasSession })
  const isFree = config !== undefined && (!hasSession || isUnauthenticated(error))
  useEffect(() => {
    if (isFree && offered !== null) signIn(offered)
  }, [isFree, offered])
  if (offered === null || identity === undefined) return null
  const accept = () => {
    signIn(offered)
    // Nothing of the former user stays.
    location.reload()
  }
  return (
    <Modal
      opened
      onClose={refuseOffer}
      title="A link wants to sign in another session"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Stay signed in' }}
      zIndex={aboveOtherDialogs}
    >
      <div className="stack">
        <p>
          You are signed in as <strong>{identity.email ?? identity.id}</strong>. With the session of the link, what you
          do in this tab is done as another user. Go on only if you know who made the link.
        </p>
        <div className="dialogActions">
          <Button data-autofocus onClick={refuseOffer}>
            Stay signed in
          </Button>
          <Button variant="default" className="confirm" onClick={accept}>
            Use the session of the link
          </Button>
        </div>
      </div>
    </Modal>
  )
}
