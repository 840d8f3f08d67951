// Shows the console to administrators, and the sign-in to everybody else. The URL stays, so that signing in leads to where one was.
import { Button, Center, Loader } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { isUnauthenticated } from '../api/apiErrors.ts'
import { queryClient } from '../api/queryClient.ts'
import { ErrorState } from '../parts/states.tsx'
import { ExpiredDialog } from './ExpiredDialog.tsx'
import { configQuery, identityQuery } from './identity.ts'
import { SignInPage, SignInShell } from './SignInPage.tsx'
import { signOut, useSession } from './session.ts'

export function SessionGate({ children }: { readonly children: ReactNode }) {
  const session = useSession()
  const config = useQuery(configQuery)
  const hasCookie = config.data?.session_cookie === true
  const hasSession = session.sessionId !== null || hasCookie
  const identity = useQuery({ ...identityQuery(session.sessionId), enabled: hasSession })
  const [isInside, setInside] = useState(false)
  const isAdministrator = identity.data?.isAdministrator === true

  useEffect(() => {
    if (isAdministrator) setInside(true)
    // After a sign-out, the pages and their data are gone.
    if (!hasSession) setInside(false)
  }, [isAdministrator, hasSession])

  // Once inside, an expired session must not take away the page or the dialog that is open.
  if (isInside && hasSession && identity.data?.isAdministrator !== false) {
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
  return isAdministrator ? <GateLoader /> : <NotAdministrator email={identity.data.user_email} />
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

function NotAdministrator({ email }: { readonly email: string | null }) {
  return (
    <SignInShell title="This session is not an administrator’s">
      <p>
        {email === null ? 'The session is valid' : `You are signed in as ${email}`}, but the console is for
        administrators only. Which users are administrators is set with <code>ADMIN_USER_TYPES</code>.
      </p>
      <Button onClick={leave}>Use another session</Button>
    </SignInShell>
  )
}

function leave() {
  signOut()
  queryClient.clear()
}
