import type { TokenStore, UserAgent } from "@mcpfx/auth"
import {
  Browser,
  LoginTerminal,
  LoopbackLogin,
  OutboundGuardNode,
  PasteLogin,
  TokenStoreFile,
  TokenStoreKeychain
} from "@mcpfx/node"
import type { FileSystem, Layer } from "effect"
import { describe, expect, test } from "tstyche"

describe("what logins on Node need", () => {
  test("nothing, to show a page", () => {
    expect(LoopbackLogin.layer()).type.toBe<Layer.Layer<UserAgent.UserAgent>>()
    expect(PasteLogin.layer()).type.toBe<Layer.Layer<UserAgent.UserAgent>>()
  })

  test("files, to keep tokens; what cannot be kept is told when the program starts", () => {
    expect(TokenStoreFile.layer()).type.toBe<
      Layer.Layer<TokenStore.TokenStore, TokenStore.TokenStoreError, FileSystem.FileSystem>
    >()
    expect(TokenStoreKeychain.layer()).type.toBe<
      Layer.Layer<TokenStore.TokenStore, TokenStore.TokenStoreError, FileSystem.FileSystem>
    >()
  })

  test("nothing, for what has a default and can be replaced", () => {
    expect(Browser.layer()).type.toBe<Layer.Layer<never>>()
    expect(LoginTerminal.layer()).type.toBe<Layer.Layer<never>>()
    expect(OutboundGuardNode.layer()).type.toBe<Layer.Layer<never>>()
  })
})
