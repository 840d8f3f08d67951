// Shows the console to everybody with a right, and the sign-in to others. The URL stays, so that signing in leads to where one was.
import { Button, Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { isUnauthenticated } from '../api/apiErrors.ts'
import { queryClient } from '../api/queryClient.ts'
import { ErrorState } from '../parts/states.tsx'
import { ExpiredDialog } from './ExpiredDialog.tsx'
import { configQuery, type Identity, identityQuery } from './identity.ts'
import { SignInPage, SignInShell } from './SignInPage.tsx'
import { signOut, useSession } from './session.ts'

export function SessionGate({ children }: { readonly children: ReactNode }) {
  const session = useSession()
  const config = useQuery(configQuery)
  const hasCookie = config.data?.session_cookie === true
  const hasSession = session.sessionId !== null || hasCookie
  const identity = useQuery({ ...identityQuery(session.sessionId), enabled: hasSession })
  const [isInside, setInside] = useState(false)
  const isAdministrator = (identity.data?.rights.length ?? 0) > 0

  useEffect(() => {
    if (isAdministrator) setInside(true)
    // After a sign-out, the pages and their data are gone.
    if (!hasSession) setInside(false)
  }, [isAdministrator, hasSession])

  // Once inside, an expired session must not take away the page or the dialog that is open.
  if (isInside && hasSession && identity.data?.rights.length !== 0) {
    return (
      <>
        {children}
        <ExpiredDialog opened={session.isExpired} hasCookie={hasCookie} />
      </>
    )
  }
  if (config.isError) return <GateError error={config.error} retry={() => void config.refetch()} />
  if (config.isPending) return <GateLoader />
  if (!hasSession) return <SignInPage hasCookie={false} />
  if (isUnauthenticated(identity.error))
    return <SignInPage hasCookie={hasCookie} isRejected={session.sessionId !== null} />
  if (identity.isError) return <GateError error={identity.error} retry={() => void identity.refetch()} />
  if (identity.isPending) return <GateLoader />
  return isAdministrator ? <GateLoader /> : <NoRights identity={identity.data} />
}

function GateLoader() {
  return (
    <Center mih="100vh">
      <Loader aria-label="Loading the console" />
    </Center>
  )
}

function GateError({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  return (
    <SignInShell title="The console cannot start">
      <ErrorState error={error} retry={retry} />
      <Button variant="default" onClick={leave}>
        Use another session
      </Button>
    </SignInShell>
  )
}

/** Signed in, but without any right. */
function NoRights({ identity: { email, user_type } }: { readonly identity: Identity }) {
  return (
    <SignInShell title="You have no rights here">
      <p>
        {email === null ? 'You are signed in' : `You are signed in as ${email}`} with the user type{' '}
        <code>{user_type}</code>, which has no right in this console.
      </p>
      <p className="hint">
        Whoever operates this installation gives rights to user types, with the variables <code>RIGHTS</code> and{' '}
        <code>ADMIN_USER_TYPES</code>.
      </p>
      <Button onClick={leave}>Use another session</Button>
    </SignInShell>
  )
}

function leave() {
  signOut()
  queryClient.clear()
}
